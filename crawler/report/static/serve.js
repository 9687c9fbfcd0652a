"use strict";
// Makes the web page live; it works without as well. What the server has written is put in place
// as it is parsed, never as a text that is made HTML here.
(() => {
  let last = "";
  const load = async (address, id) => {
    last = address;
    const text = await fetch(address).then((answer) => (answer.ok ? answer.text() : null), () => null);
    if (address !== last) return; // a later question was answered sooner
    document.getElementById("stale").hidden = text !== null;
    if (text === null) return;
    const found = new DOMParser().parseFromString(text, "text/html").getElementById(id);
    const shown = document.getElementById(id);
    if (found && shown) shown.replaceChildren(...found.childNodes);
  };

  const live = document.getElementById("live");
  if (live) {
    setInterval(() => {
      if (!document.hidden && !live.contains(document.activeElement)) load(location.href, "live");
    }, 1000 * Number(live.dataset.refresh));
  }

  const slider = document.getElementById("slider");
  if (slider) {
    let waiting = 0;
    slider.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        const address = slider.getAttribute("action") + "?" + new URLSearchParams(new FormData(slider));
        history.replaceState(null, "", address);
        load(address, "changes");
      }, 150);
    });
  }
})();
