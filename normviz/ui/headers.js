/* A checkpoint may have a hundred gigabytes; its names stand in a header of a few hundred kilobytes at its start. */

async function textOf(file, limit) {
  if (!file.name.toLowerCase().endsWith(".safetensors")) return file.size > limit ? null : file.text()
  const start = new DataView(await file.slice(0, 8).arrayBuffer())
  const size = start.byteLength < 8 ? 0 : Number(start.getBigUint64(0, true))
  return size > limit ? null : file.slice(8, 8 + size).text()
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".nv-header-file")
  const [label, said] = root.querySelectorAll("span")
  const input = root.querySelector("input")
  const { limit, words } = data
  label.textContent = words.label
  input.accept = ".json,.safetensors,.txt"
  input.onchange = async () => {
    const file = input.files[0]
    if (!file) return
    const text = await textOf(file, limit)
    const header = file.name.toLowerCase().endsWith(".safetensors")
    said.textContent = text !== null ? (header ? words.read : "") : header ? words.large : words.long
    // Without a text the server forgets what it said about the file before.
    setTriggerValue("file", [file.name, text])
  }
}
