// What is wider than the page scrolls in a box of its own. A box of a table or of code can then be
// reached by keyboard, and has a name; every box fades at the edge behind which there is more.
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

  // For what is on the page now; live parts call it again.
  window.lockstepBoxes = function (root) {
    root.querySelectorAll(boxes).forEach(fade);
  };

  function all() {
    look();
    window.lockstepBoxes(document);
  }

  window.addEventListener("load", all);
  window.addEventListener("resize", all);
  // A scroll does not rise from the box: it is caught on the way down.
  document.addEventListener("scroll", ({ target }) => target.matches?.(boxes) && fade(target), true);
  // What is unfolded has its width only then.
  document.addEventListener("toggle", ({ target }) => window.lockstepBoxes(target), true);
})();
