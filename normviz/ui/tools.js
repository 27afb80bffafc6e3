/* What only the browser can do: copy the address, switch between light and dark, let the keyboard reach what scrolls. */

/** Copy text; `navigator.clipboard` exists only on https and localhost, a lecture link is often plain http. */
async function copy(text) {
  if (navigator.clipboard && window.isSecureContext) {
    await navigator.clipboard.writeText(text)
    return
  }
  const field = document.createElement("textarea")
  field.value = text
  field.setAttribute("readonly", "")
  field.style.position = "fixed"
  field.style.opacity = "0"
  document.body.append(field)
  field.select()
  document.execCommand("copy")
  field.remove()
}

/** Streamlit remembers the theme per path, under a key of its own; the choice is meant for every page. */
function remember(theme, pages) {
  const here = pages.find((page) => page && window.location.pathname.endsWith(`/${page}`)) ?? ""
  const root = window.location.pathname.slice(0, window.location.pathname.length - here.length)
  for (const page of pages) {
    window.localStorage.setItem(`stActiveTheme-${root}${page}-v2`, JSON.stringify(theme))
  }
}

/** What scrolls sideways on a narrow screen can be reached with the keyboard; Streamlit leaves tables and code out. */
function reachable() {
  for (const region of document.querySelectorAll('[data-testid="stTable"] > div, [data-testid="stCode"] pre')) {
    if (region.scrollWidth > region.clientWidth) region.tabIndex = 0
    else region.removeAttribute("tabindex")
  }
}

let due = 0
const watch = new MutationObserver(() => {
  window.clearTimeout(due)
  due = window.setTimeout(reachable, 100) // once for what is drawn in one go
})

export default function ({ data, parentElement }) {
  watch.observe(document.body, { childList: true, subtree: true }) // once, however often it is asked for
  reachable()
  const [share, theme] = parentElement.querySelectorAll("button")
  const said = parentElement.querySelector("[role=status]")
  document.documentElement.lang = data.lang // Streamlit leaves "en", and a screen reader would read Chinese with it
  share.textContent = data.share
  theme.textContent = data.theme
  share.onclick = async () => {
    await copy(window.location.href)
    share.textContent = data.copied
    said.textContent = data.copied
    window.setTimeout(() => {
      share.textContent = data.share
      said.textContent = ""
    }, 2000)
  }
  theme.onclick = () => {
    remember(data.mode === "dark" ? "Light" : "Dark", data.pages)
    window.location.reload()
  }
}
