/**
 * How does a figure leave the page? As a file made in the browser.
 */

/**
 * Hand a file to the reader.
 *
 * @param {string} name
 * @param {BlobPart} content
 * @param {string} type
 */
export function save(name, content, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/**
 * The drawing as it stands, with its title and an opaque page behind it.
 *
 * @param {any} Plotly
 * @param {any} canvas plotly's graph element
 * @param {"png" | "svg"} format
 * @param {string} title
 * @returns {Promise<BlobPart>}
 */
export async function imageOf(Plotly, canvas, format, title) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const { font, paper_bgcolor: paper, meta } = canvas._fullLayout;
  const background = meta?.background ?? paper;
  const size = Math.round(font.size * 1.1);
  const heading = {
    text: wrapped(title, width - 40, `${size}px ${font.family}`),
    font: { size },
    x: 0,
    xref: "container",
    xanchor: "left",
    y: 1,
    yref: "container",
    yanchor: "top",
    pad: { l: 20, t: 16 },
  };
  const space = Math.ceil(heading.text.split("<br>").length * size * 1.3) + 24;
  const margin = { ...canvas.layout.margin, t: (canvas.layout.margin?.t ?? 0) + space };
  const layout = { ...canvas.layout, autosize: false, paper_bgcolor: background, title: heading, margin };
  const options = { format, width, height: height + space, scale: 2, imageDataOnly: true };
  const content = await Plotly.toImage({ data: canvas.data, layout }, options);
  return format === "svg" ? content : Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
}

/** Plotly does not wrap a title. Chinese has no spaces, so every character but those of a word may start a line. */
function wrapped(text, width, font) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = font;
  const lines = [""];
  for (const part of text.match(/[\x21-\u2e7f]+|\s+|./gu) ?? []) {
    const line = lines.at(-1) + part;
    if (pen.measureText(line).width > width && lines.at(-1)) lines.push(part.trimStart());
    else lines[lines.length - 1] = line;
  }
  return lines.map((line) => line.replaceAll("&", "&amp;").replaceAll("<", "&lt;")).join("<br>");
}
