// A wide access is served in phases. If a map draws several, the reader may choose one.
(function () {
  "use strict";

  function show(svg, chosen) {
    const phases = [...svg.querySelectorAll("g.phase")];
    for (const phase of phases) {
      phase.removeAttribute("transform");
      phase.style.display = "";
    }
    const top = phases[0].getBBox().y;
    const [width, height] = svg.dataset.size.split(" ");
    if (chosen === "all") {
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.setAttribute("height", height);
      return;
    }
    for (const phase of phases) {
      if (phase.dataset.phase !== chosen) {
        phase.style.display = "none";
        continue;
      }
      const box = phase.getBBox();
      const end = Math.ceil(top + box.height + 8);
      phase.setAttribute("transform", `translate(0, ${top - box.y})`);
      svg.setAttribute("viewBox", `0 0 ${width} ${end}`);
      svg.setAttribute("height", end);
    }
  }

  function add(figure) {
    const svg = figure.querySelector("svg");
    const phases = svg ? svg.querySelectorAll("g.phase") : [];
    if (phases.length < 2 || figure.querySelector(".map-phase")) {
      return;
    }
    svg.dataset.size = `${svg.getAttribute("width")} ${svg.getAttribute("height")}`;
    const label = document.createElement("label");
    label.className = "map-phase";
    label.append("Phase ");
    const select = document.createElement("select");
    select.append(new Option("all", "all"));
    for (const phase of phases) {
      const number = phase.dataset.phase;
      select.append(new Option(`${Number(number) + 1} of ${phases.length}`, number));
    }
    select.addEventListener("change", (event) => {
      event.stopPropagation();
      show(svg, select.value);
    });
    label.append(select);
    figure.prepend(label);
  }

  // For the current content of the page; live parts call it again.
  window.lockstepPhases = function (root) {
    root.querySelectorAll("figure.map-figure").forEach(add);
  };
  window.lockstepPhases(document);
})();
