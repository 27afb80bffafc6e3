/**
 * How does a diagram leave the page? As it stands at rest, with its title and an opaque page behind it.
 */

import { save } from "./save.js";
import { drawn, set } from "./svg.js";

const AIR = 16;
const TITLE = 18;
const SHARPNESS = 3; // pixels of the image to a pixel of the layout

/**
 * @param {import("./diagram_view.js").View} view
 * @param {"png" | "svg"} format
 */
export async function saveDiagram(view, format) {
  const { text, width, height } = standalone(view);
  const { name } = view.diagram;
  if (format === "svg") save(`${name}.svg`, text, "image/svg+xml");
  else save(`${name}.png`, await rendered(text, width, height), "image/png");
}

/** The drawing as a document of its own. */
function standalone({ svg, diagram, colours }) {
  const font = svg.getAttribute("font-family");
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `600 ${TITLE}px ${font}`;
  const [drawing, tall] = diagram.size;
  const width = Math.ceil(Math.max(drawing, pen.measureText(diagram.title).width) + 2 * AIR);
  const top = TITLE + 2 * AIR;
  const height = Math.ceil(tall + top + AIR);
  const copy = svg.cloneNode(true);
  for (const motion of copy.querySelectorAll(".normviz-diagram-pulses, .normviz-diagram-dots, .normviz-diagram-grip")) {
    motion.remove();
  }
  for (const part of copy.querySelectorAll("*")) {
    for (const { name } of [...part.attributes]) {
      if (name === "class" || name === "role" || name === "tabindex" || name === "style") part.removeAttribute(name);
      else if (name.startsWith("aria-") || name.startsWith("data-")) part.removeAttribute(name);
    }
  }
  const moved = drawn(copy, "g", { transform: `translate(${(width - drawing) / 2} ${top})` });
  moved.append(...[...copy.childNodes].filter((part) => part !== moved));
  const ground = drawn(copy, "rect", { width, height, fill: colours.paper });
  const heading = { x: width / 2, y: AIR + TITLE, "text-anchor": "middle", fill: colours.ink };
  const title = drawn(copy, "text", { ...heading, "font-size": TITLE, "font-weight": 600 });
  title.textContent = diagram.title;
  copy.prepend(ground, title);
  copy.removeAttribute("class");
  copy.removeAttribute("style");
  set(copy, { viewBox: `0 0 ${width} ${height}`, width, height, role: "img" });
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

/** @returns {Promise<Blob>} */
async function rendered(text, width, height) {
  const image = new Image(width, height);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: width * SHARPNESS, height: height * SHARPNESS });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}
