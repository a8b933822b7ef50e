// What the tests look for in a page. The value is an object of functions, each of which
// returns a list of complaints in words.
(() => {
	const charts = () => [...document.querySelectorAll("[data-chart]")].filter(c => c.checkVisibility());
	const name = chart => chart.dataset.chart ?? chart.className;

	// unseen is whether an element is there for readers of the screen alone: in a box of a pixel.
	const unseen = element => {
		for (let e = element; e && e !== document.body; e = e.parentElement) {
			if (e.clientWidth === 1 && getComputedStyle(e).overflow === "hidden") return true;
		}
		return false;
	};
	const hiddenText = (element, box) => box.width <= 1 || box.height <= 1 || box.bottom + scrollY < 0 || box.right < 0 ||
		!element.checkVisibility({opacityProperty: true, visibilityProperty: true}) ||
		element.closest("title, desc, style, script, select, noscript") !== null || unseen(element);

	// labels are the pieces of visible text in an element, with their boxes.
	const labels = root => {
		const found = [], walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
		while (walker.nextNode()) {
			const node = walker.currentNode, text = node.data.trim();
			if (!text) continue;
			const range = document.createRange();
			range.selectNodeContents(node);
			for (const box of range.getClientRects()) {
				if (!hiddenText(node.parentElement, box)) found.push({text, box, element: node.parentElement});
			}
		}
		return found;
	};

	// meet is whether two boxes have more in common than rounding explains. Above and below
	// the letters a line's box is empty, by about a sixth each.
	const meet = (a, b) => {
		const slack = Math.min(a.height, b.height) / 6;
		return Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
			Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2 * slack;
	};

	return {
		// overlaps are labels of a chart, or of a row in the list of caches, that lie on each other.
		overlaps() {
			const bad = [];
			for (const chart of [...charts(), ...document.querySelectorAll("#overview .cache")]) {
				const list = labels(chart);
				for (let i = 0; i < list.length; i++) {
					for (let j = 0; j < i; j++) {
						if (meet(list[i].box, list[j].box)) bad.push(`${name(chart)}: "${list[i].text}" lies on "${list[j].text}"`);
					}
				}
			}
			return bad;
		},

		// cut are labels that leave their picture, or the page.
		cut() {
			const bad = [], wide = document.documentElement.clientWidth;
			for (const chart of charts()) {
				for (const {text, box, element} of labels(chart)) {
					const picture = element.closest("svg")?.getBoundingClientRect() ?? {left: 0, right: wide, top: -Infinity, bottom: Infinity};
					if (box.left < picture.left - 1 || box.right > picture.right + 1 || box.top < picture.top - 3 || box.bottom > picture.bottom + 3 || box.right > wide + 1 || box.left < -1) {
						bad.push(`${name(chart)}: "${text}" is cut`);
					}
				}
			}
			for (const e of document.querySelectorAll("body *")) {
				const style = getComputedStyle(e);
				if (e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 1 && style.overflowX === "hidden" && style.display !== "inline" && !e.closest("svg") && !unseen(e)) {
					bad.push(`<${e.localName} class="${e.className}">: "${e.textContent.trim().slice(0, 60)}" is cut`);
				}
			}
			return bad;
		},

		// scrolls is whether the page is wider than its window.
		scrolls() {
			const page = document.documentElement;
			if (page.scrollWidth <= page.clientWidth) return [];
			const wide = [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > page.clientWidth + 1);
			return [`the page is ${page.scrollWidth} pixels wide in a window of ${page.clientWidth}: ${wide.slice(0, 5).map(e => e.localName + "." + (e.className.baseVal ?? e.className)).join(", ")}`];
		},

		// faint is text that stands out too little from what is behind it: WCAG asks for 4.5.
		faint() {
			const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
			const rgba = colour => {
				canvas.clearRect(0, 0, 1, 1);
				canvas.fillStyle = colour;
				canvas.fillRect(0, 0, 1, 1);
				return [...canvas.getImageData(0, 0, 1, 1).data];
			};
			const luminance = c => c.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
			const behind = element => {
				for (let e = element; e; e = e.parentElement) {
					const c = rgba(getComputedStyle(e).backgroundColor);
					if (c[3] > 250) return c;
				}
				return [255, 255, 255, 255];
			};
			const bad = new Set();
			for (const {text, element} of labels(document.body)) {
				const style = getComputedStyle(element), svg = element.closest("svg");
				const front = rgba(svg ? style.fill : style.color);
				if (element.closest("[data-on-mark]") || element.disabled) continue;
				const [a, b] = [luminance(front), luminance(behind(element))].sort((x, y) => y - x);
				const ratio = (a + 0.05) / (b + 0.05);
				if (ratio < 4.5) bad.add(`"${text.slice(0, 40)}" has a contrast of ${ratio.toFixed(1)}, want 4.5`);
			}
			return [...bad];
		},
	};
})()
