// Content wider than the page scrolls in its own box. A box with a table or code can then be
// reached by keyboard, and has a name; every box fades at an edge that hides more.
(function () {
  "use strict";

  function name(box) {
    return box.matches(".table-wrapper") ? "Table" : "Code";
  }

  function look() {
    for (const box of document.querySelectorAll(".content .table-wrapper, .content pre > code")) {
      if (box.scrollWidth > box.clientWidth) {
        box.tabIndex = 0;
        box.setAttribute("role", "region");
        box.setAttribute("aria-label", name(box));
      } else {
        box.removeAttribute("tabindex");
        box.removeAttribute("role");
        box.removeAttribute("aria-label");
      }
    }
  }

  const boxes = ".content .table-wrapper, .content pre > code, .map-box, .table-box";

  function fade(box) {
    const left = Math.round(box.scrollLeft);
    const right = box.scrollWidth - box.clientWidth - left;
    const cut = [left > 1 ? "left" : "", right > 1 ? "right" : ""].join(" ").trim();
    if (cut === "") {
      delete box.dataset.cut;
    } else {
      box.dataset.cut = cut;
    }
  }

  // For the current content of the page; live parts call it again.
  window.lockstepBoxes = function (root) {
    root.querySelectorAll(boxes).forEach(fade);
  };

  function all() {
    look();
    window.lockstepBoxes(document);
  }

  window.addEventListener("load", all);
  window.addEventListener("resize", all);
  // Scroll events do not bubble up from the box: they are captured on the way down.
  document.addEventListener("scroll", ({ target }) => target.matches?.(boxes) && fade(target), true);
  // Folded content has no width until it is unfolded.
  document.addEventListener("toggle", ({ target }) => window.lockstepBoxes(target), true);
})();
