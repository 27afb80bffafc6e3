/* Buttons that count up: quick clicks add up here, because a page that is still answering would lose some of them. */

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".nv-feeder")
  const [one, ten, over] = root.querySelectorAll("button")
  const { at, most, words } = data
  // What was sent and is not answered yet; an answer to an earlier click must not take later ones back.
  const sent = (root.sent ??= [])
  const answered = sent.indexOf(at)
  root.sent = answered < 0 ? [] : sent.slice(answered + 1)
  if (!root.sent.length) root.at = at
  const go = (to) => {
    if (to === root.at) return
    root.at = to
    root.sent.push(to)
    setTriggerValue("at", to)
  }
  root.setAttribute("aria-label", words.group)
  for (const [button, text] of [[one, words.one], [ten, words.ten], [over, words.over]]) button.textContent = text
  for (const button of [one, ten]) button.setAttribute("aria-disabled", String(at >= most))
  over.setAttribute("aria-disabled", String(at === 0))
  one.onclick = () => go(Math.min(root.at + 1, most))
  ten.onclick = () => go(Math.min(root.at + 10, most))
  over.onclick = () => go(0)
}
