/* Going through the steps one by one: buttons, arrow keys and what a presenter's clicker sends. */

const KEYS = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 }

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".nv-stepper")
  const [back, next, all] = root.querySelectorAll("button")
  const said = root.querySelector("[role=status]")
  const { step, last, words } = data
  // 0 shows all steps; from there "next" begins at the first and "back" leaves the last one out.
  const go = (by) => {
    const to = step === 0 ? (by > 0 ? 1 : last - 1) : Math.min(Math.max(step + by, 1), last)
    if (to !== step) setTriggerValue("step", to)
  }
  root.setAttribute("aria-label", words.group)
  for (const [button, text] of [[back, words.back], [next, words.next], [all, words.all]]) button.textContent = text
  back.setAttribute("aria-disabled", String(step === 1))
  next.setAttribute("aria-disabled", String(step === last))
  all.setAttribute("aria-pressed", String(step === 0))
  said.textContent = words.place
  back.onclick = () => go(-1)
  next.onclick = () => go(1)
  all.onclick = () => setTriggerValue("step", 0)
  root.onkeydown = (event) => {
    const by = KEYS[event.key]
    if (!by || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    go(by)
  }
}
