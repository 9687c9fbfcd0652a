"use strict";
// Lists of the report. They are made as they are opened, and with text nodes only: nothing that
// a page says is ever read as HTML.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const DECISIONS = 10;
  const CLUSTERS = 25;

  const make = (name, className, ...children) => {
    const element = document.createElement(name);
    if (className) element.className = className;
    element.append(...children.filter((child) => child !== null && child !== ""));
    return element;
  };

  const counted = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;

  // Of a similarity, which has four decimals: rounded down, as all others are.
  const percent = (share) => (Math.floor(Math.round(share * 1e4) / 10) / 10).toFixed(1) + "\u00a0%";

  const address = (url) => {
    const holder = make("bdi", "url");
    if (url.length <= 2000 && /^https?:\/\/[^\s\\"'<>`]+$/i.test(url)) {
      const link = make("a", "", url);
      link.href = url;
      link.rel = "noopener noreferrer nofollow";
      holder.append(link);
    } else {
      holder.append(url);
    }
    return holder;
  };

  const isolated = (text, className) => {
    const element = make("bdi", className, text);
    element.dir = "auto";
    return element;
  };

  const interval = (page) => {
    if (page.similarity === null) return "compared with a page that is no longer kept";
    if (page.kind === "exact") return "the same words";
    return `${percent(page.similarity)} similar (${percent(page.low)} to ${percent(page.high)})`;
  };

  // What is inside a <details> is made when it is first opened.
  const fills = new WeakMap();
  const folded = (summary, fill) => {
    const details = make("details", "", make("summary", "", ...summary));
    fills.set(details, () => {
      if (details.childElementCount === 1) details.append(...fill());
    });
    details.addEventListener("toggle", () => details.open && fills.get(details)());
    return details;
  };

  const side = (segments, className) => {
    const cell = make("div", className);
    cell.dir = "auto";
    for (const [text, changed] of segments) {
      cell.append(changed ? make(className === "left" ? "del" : "ins", "", text) : text);
    }
    if (!segments.length) cell.append("–");
    return cell;
  };

  const comparison = (page) => {
    if (page.comparison === null) {
      return make("p", "note", "This report does not have the texts of these two pages.");
    }
    const { titles, rows, most_words: most } = data.comparisons[page.comparison];
    if (rows === null) {
      return make("p", "note", "The two texts differ in more than 1,000 words.");
    }
    if (!rows.length) {
      return make("p", "note", "The archived parts of the two texts have the same words.");
    }
    const table = make("div", "sides");
    table.append(
      make("div", "left head", "kept: ", isolated(titles[0])),
      make("div", "right head", "copy: ", isolated(titles[1])),
    );
    for (const [skipped, left, right] of rows) {
      if (skipped) table.append(make("div", "skipped", counted(skipped, "equal word")));
      table.append(side(left, "left"), side(right, "right"));
    }
    if (most) {
      table.append(make("div", "skipped", `Of each text, the first ${most.toLocaleString("en")} words are compared, or as many as the archive has.`));
    }
    return table;
  };

  const decision = (page) =>
    folded(
      [
        make("span", "lead", interval(page)),
        page.title ? make("span", "meta", isolated(page.title)) : null,
        make("span", "meta", isolated(page.url, "url")),
      ],
      () => [
        make(
          "ul",
          "pair",
          make("li", "", "kept: ", page.original === null ? "(no longer kept)" : address(page.original)),
          make("li", "", "copy: ", address(page.url)),
        ),
        comparison(page),
      ],
    );

  // A list that grows by `size` items at a time; `items` is asked anew each time.
  const growing = (holder, button, items, element, size) => {
    const grow = () => {
      const shown = holder.childElementCount;
      holder.append(...items().slice(shown, shown + size).map(element));
      button.hidden = holder.childElementCount >= items().length;
      return holder.children[shown];
    };
    button.addEventListener("click", () => grow().querySelector("summary").focus());
    return grow;
  };

  const near = document.getElementById("near");
  if (near) growing(near, document.getElementById("more-near"), () => data.near, decision, DECISIONS)();

  const list = document.getElementById("list");
  if (!list) return;

  const about = (page) =>
    make("span", "meta", `${counted(page.words, "word")}, seen ${page.first_seen}` +
      (page.last_seen === page.first_seen ? "" : ` to ${page.last_seen}`));

  const member = (page) => {
    const item = make("li", "", make("span", `kind ${page.kind}`, page.kind), " ", address(page.url));
    if (page.title) item.append(make("span", "meta", isolated(page.title)));
    item.append(make("span", "meta", interval(page)), about(page));
    if (page.kind === "near") item.append(folded(["Where the texts differ"], () => [comparison(page)]));
    return item;
  };

  const least = (page) => {
    if (page.kind !== "near") return ", the same words";
    return page.similarity === null ? null : `, at least ${percent(page.similarity)} similar`;
  };

  const cluster = (one) =>
    folded(
      [
        make("span", "lead", counted(one.size, "page")),
        least(one.copies[0]),
        one.kept && one.kept.title ? make("span", "meta", isolated(one.kept.title)) : null,
        make("span", "meta", isolated(one.kept ? one.kept.url : "(no kept page)", "url")),
      ],
      () => {
        const items = make("ul", "plain members");
        if (one.kept) {
          items.append(make("li", "", make("span", "kind kept", "kept"), " ", address(one.kept.url), about(one.kept)));
        }
        items.append(...one.copies.map(member));
        const left = one.size - (one.kept ? 1 : 0) - one.copies.length;
        return left > 0
          ? [items, make("p", "note", `${left === 1 ? "1 more copy is" : `${left.toLocaleString("en")} more copies are`} in the index.`)]
          : [items];
      },
    );

  const latest = (one) => one.copies.reduce((last, page) => (page.last_seen > last ? page.last_seen : last), "");
  const orders = {
    doubt: () => 0,
    size: (a, b) => b.size - a.size,
    latest: (a, b) => (latest(b) > latest(a) ? 1 : latest(b) < latest(a) ? -1 : 0),
  };
  const filter = document.getElementById("filter");
  const order = document.getElementById("order");
  const count = document.getElementById("count");
  let found = [];
  const grow = growing(list, document.getElementById("more"), () => found, cluster, CLUSTERS);

  const search = () => {
    const words = filter.value.toLowerCase();
    const holds = (page) => page && (page.url + " " + page.title).toLowerCase().includes(words);
    found = data.clusters.filter((one) => !words || holds(one.kept) || one.copies.some(holds));
    found.sort(orders[order.value]);
    list.replaceChildren();
    grow();
    count.textContent = `${found.length.toLocaleString("en")} of ${counted(data.clusters.length, "cluster")}`;
  };

  document.getElementById("tools").addEventListener("submit", (event) => event.preventDefault());
  filter.addEventListener("input", search);
  order.addEventListener("change", search);
  addEventListener("beforeprint", () => {
    // Paper waits for no event, so all is filled at once; what that adds comes later in this list.
    for (const details of document.getElementsByTagName("details")) {
      details.open = true;
      fills.get(details)?.();
    }
  });
  search();
})();
