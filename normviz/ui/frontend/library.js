/**
 * Where do plotly.js and MathJax come from? From the server that sent the page, once per browser.
 */

/** @type {Map<string, Promise<void>>} Loads by address, shared by all figures of the page. */
const loads = new Map();

const MATHJAX = "3.2.2";

/**
 * Run a large script once per page.
 *
 * Streamlit serves component files with `Cache-Control: public` and neither an age nor a validator, so a script tag
 * would download them again at every reload. `force-cache` takes the stored copy whatever its age; the version in
 * the address makes another version another copy.
 *
 * @param {string} path relative to this file
 * @param {string} version
 * @returns {Promise<void>}
 */
function load(path, version) {
  const url = new URL(path, import.meta.url);
  url.searchParams.set("v", version);
  const known = loads.get(url.href);
  if (known) return known;
  const loading = fetch(url, { cache: "force-cache" })
    .then((response) => {
      if (!response.ok) throw new Error(`${url.pathname}: ${response.status}`);
      return response.text();
    })
    .then(run);
  loads.set(url.href, loading);
  loading.catch(() => loads.delete(url.href)); // the next update tries again
  return loading;
}

/**
 * @param {string} source a classic script
 * @returns {Promise<void>}
 */
function run(source) {
  // The names hide a module loader that some other script may have left on the page: both libraries would hand
  // themselves to it instead of to the window.
  const parts = ["(function (module, exports, define) {", source, "\n}).call(window);"];
  const address = URL.createObjectURL(new Blob(parts, { type: "text/javascript" }));
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = () => resolve();
    script.onerror = () => reject(new Error("a script of the page was blocked"));
    document.head.append(script);
  }).finally(() => URL.revokeObjectURL(address));
}

/**
 * @param {string} version of the plotly wheel
 * @returns {Promise<any>} plotly.js
 */
export async function loadPlotly(version) {
  await load("../normviz.plotly/plotly.min.js", version);
  return window.Plotly;
}

/** Make `$…$` in labels readable: plotly typesets with `window.MathJax` when it is there. */
export async function loadMathJax() {
  if (!window.MathJax) {
    window.MathJax = {
      startup: { typeset: false }, // the page's own text is Streamlit's business
      options: { enableMenu: false, enableAssistiveMml: false },
      // These two would fetch a file for an unknown command.
      tex: { packages: { "[-]": ["autoload", "require"] } },
      svg: { fontCache: "local" },
    };
  }
  await load("./mathjax/tex-svg.js", MATHJAX);
  await window.MathJax.startup.promise;
}
