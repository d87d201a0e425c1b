// Tables and code that are wider than the page scroll in boxes of their own. Such a box can be
// reached by keyboard, and has a name.
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

  window.addEventListener("load", look);
  window.addEventListener("resize", look);
})();
