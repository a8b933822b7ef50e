const out = document.getElementById("frame");
new EventSource("events").addEventListener("frame", (e) => {
  out.textContent = JSON.stringify(JSON.parse(e.data), null, 1);
});
