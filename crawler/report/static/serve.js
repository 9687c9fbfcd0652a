"use strict";
// Makes the web page live; it works without as well. What the server has written is put in place
// as it is parsed, never as a text that is made HTML here.
(() => {
  const stale = document.getElementById("stale");
  const reason = stale.querySelector("span");
  const silence = reason.textContent;
  let last = "";
  const load = async (address, id) => {
    last = address;
    const [ok, text] = await fetch(address).then(
      async (answer) => [answer.ok, await answer.text()],
    ).catch(() => [false, ""]);
    if (address !== last) return; // a later question was answered sooner
    const page = new DOMParser().parseFromString(text, "text/html");
    stale.hidden = ok;
    if (!ok) {
      reason.textContent = page.querySelector("main .message:not(#stale)")?.textContent ?? silence;
      return;
    }
    const found = page.getElementById(id);
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
