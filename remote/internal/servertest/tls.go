package servertest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// certificates are a server's key and its own certificate, which is the authority, too.
type certificates struct {
	certFile, keyFile string
	pool              *x509.CertPool
}

func newCertificates(t testing.TB, dir string) *certificates {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	c := &certificates{certFile: filepath.Join(dir, "server.crt"), keyFile: filepath.Join(dir, "server.key"), pool: x509.NewCertPool()}
	writePEM(t, c.keyFile, "EC PRIVATE KEY", keyDER)
	c.pool.AppendCertsFromPEM(writePEM(t, c.certFile, "CERTIFICATE", der))
	return c
}

func writePEM(t testing.TB, file, kind string, der []byte) []byte {
	t.Helper()
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return text
}

// config is the server's lines.
func (c *certificates) config() []string {
	return []string{"tls-cert-file " + c.certFile, "tls-key-file " + c.keyFile, "tls-ca-cert-file " + c.certFile}
}

// client is a client's configuration.
func (c *certificates) client() *tls.Config {
	return &tls.Config{RootCAs: c.pool, ServerName: "localhost", MinVersion: tls.VersionTLS12}
}
