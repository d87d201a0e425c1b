// One group at a time, one kernel of it or two side by side, by what the address names:
// #group, #group/kernel, #group/kernel+other, and #group/kernel@map for one of its maps. Without
// this script everything is shown, one after another, except packed parts.
"use strict";
(() => {
  const main = document.getElementById("main");
  const groups = [...main.querySelectorAll(".group")];
  const menu = document.querySelector("nav.groups");
  const links = [...menu.querySelectorAll("li a")];

  // There are hundreds of these.
  for (const link of main.querySelectorAll(".source i a")) link.title = "what its lanes touch";

  // With only one, there is nothing to choose.
  const only_group = groups.length === 1 ? groups[0] : null;
  const every_kernel = [...main.querySelectorAll(".kernel")];
  const only_kernel = every_kernel.length === 1 ? every_kernel[0] : null;

  // The target that the address names; null for the overview.
  function named() {
    let text = location.hash.slice(1);
    try { text = decodeURIComponent(text); } catch { /* as it is */ }
    const [id, rest] = text.split(/\/(.*)/s);
    const group = groups.find((group) => group.id === id) ?? only_group;
    if (!group) return null;
    const [names, map] = (rest ?? "").split("@");
    if (only_kernel) return { group, kernels: [only_kernel], map };
    const kernels = names.split("+").slice(0, 2)
      .map((name) => document.getElementById(`${id}/${name}`))
      .filter((kernel) => kernel?.classList.contains("kernel"));
    return { group, kernels, map };
  }

  function show() {
    const at = named();
    main.classList.toggle("single", at !== null);
    for (const group of groups) {
      const kernels = group === at?.group ? at.kernels : [];
      group.classList.toggle("open", group === at?.group);
      group.classList.toggle("comparing", kernels.length === 2);
      for (const kernel of group.querySelectorAll(".kernel.open")) kernel.classList.remove("open");
      for (const row of group.querySelectorAll(".ladder tbody tr")) {
        const picked = kernels.some((kernel) => kernel.id === row.dataset.kernel);
        row.classList.toggle("picked", picked);
        const link = row.querySelector("a");
        if (picked) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
      for (const kernel of kernels) open(group, kernel, kernels, at.map);
      if (group === at?.group) unfold_pictures(group);
      group.querySelector(".kernels").classList.toggle("beside-two", kernels.length === 2);
      group.querySelector(".pictures")?.classList.toggle("aside", kernels.length > 0);
    }
    for (const link of links) {
      const is_here = link.getAttribute("href") === (at ? `#${at.group.id}` : "#");
      if (is_here) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    return at;
  }

  function open(group, kernel, kernels, map) {
    kernel.classList.add("open");
    kernel.style.order = kernels.indexOf(kernel);
    tools(group, kernel, kernels);
    show_map(kernel, map);
    play(kernel);
  }

  // The player of a kernel has its data among the packed parts.
  async function play(kernel) {
    const section = kernel.querySelector(".player");
    if (!section || section.dataset.ready) return;
    const all = await contents(kernel.closest(".group"));
    window.lockstepPlayer(section, all.kernels[kernel.id].player);
  }

  const name_of = (link) => link.id.split("@")[1];
  // The map of that name, or the one with the most waste.
  async function show_map(kernel, name) {
    const links = [...kernel.querySelectorAll(".map-list a")];
    const link = links.find((link) => name_of(link) === name)
      ?? links.find((link) => link.hasAttribute("aria-current"))
      ?? links.find((link) => "worst" in link.dataset) ?? links[0];
    if (!link) return;
    for (const other of links) {
      if (other === link) other.setAttribute("aria-current", "true");
      else other.removeAttribute("aria-current");
    }
    const place = kernel.querySelector(".map-shown");
    if (place.dataset.shown === name_of(link)) return;
    place.dataset.shown = name_of(link);
    const all = await contents(kernel.closest(".group"));
    // Another may have been requested meanwhile.
    if (place.dataset.shown !== name_of(link)) return;
    place.innerHTML = all.maps[all.kernels[kernel.id].maps[name_of(link)]];
    show_phases(kernel, place);
  }

  // A wide access is served in phases; one is shown at a time, or all of them.
  function show_phases(kernel, place) {
    const phases = [...place.querySelectorAll("svg > .phase, svg > * > .phase")];
    const choice = kernel.querySelector(".phases");
    for (const label of choice.querySelectorAll("label")) label.remove();
    choice.hidden = phases.length < 2;
    if (choice.hidden) return;
    const choose = (chosen) => {
      for (const phase of phases) {
        phase.style.display = chosen === "all" || phase.dataset.phase === chosen ? "" : "none";
      }
    };
    for (const value of ["all", ...phases.map((phase) => phase.dataset.phase)]) {
      const label = document.createElement("label");
      const input = document.createElement("input");
      input.type = "radio";
      input.name = `phase of ${kernel.id}`;
      input.value = value;
      input.checked = value === "all";
      input.addEventListener("change", () => choose(value));
      label.append(input, value === "all" ? " all" : ` ${Number(value) + 1}`);
      choice.append(label);
    }
  }

  async function unfold_pictures(group) {
    const places = [...group.querySelectorAll(".unfolds:empty")];
    if (places.length === 0) return;
    const all = await contents(group);
    for (const place of places) place.innerHTML = all.pictures[place.dataset.picture];
  }

  // The kernel that is shown next to this one.
  function tools(group, kernel, kernels) {
    const all = [...group.querySelectorAll(".kernel")];
    if (all.length < 2) return;
    const name = (of) => of.id.slice(group.id.length + 1);
    let box = kernel.querySelector(".tools");
    if (!box) {
      box = document.createElement("div");
      box.className = "tools";
      const label = document.createElement("label");
      label.textContent = "Compare with ";
      const select = document.createElement("select");
      select.add(new Option("none", ""));
      for (const other of all) if (other !== kernel) select.add(new Option(name(other)));
      select.addEventListener("change", () => {
        const other = select.value ? `+${select.value}` : "";
        location.hash = `#${kernel.id}${other}`;
      });
      label.append(select);
      box.append(label);
      kernel.querySelector("h3").after(box);
    }
    // The kernel on the right is chosen on the left.
    box.hidden = kernel !== kernels[0];
    box.querySelector("select").value = kernels.length === 2 ? name(kernels[1]) : "";
  }

  // The packed parts of a group, by kernel.
  const unpacked = new Map();
  function contents(group) {
    if (!unpacked.has(group)) unpacked.set(group, unpack(group.querySelector("script.packed")));
    return unpacked.get(group);
  }
  async function unpack(element) {
    const bytes = Uint8Array.from(atob(element.textContent.trim()), (c) => c.charCodeAt(0));
    const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(inflated).json();
  }

  for (const details of document.querySelectorAll(".ptx")) {
    details.addEventListener("toggle", async () => {
      const pre = details.querySelector("pre");
      if (!details.open || pre.textContent) return;
      const kernel = details.closest(".kernel");
      pre.setAttribute("aria-label", `PTX of ${kernel.querySelector("h3").textContent}`);
      try {
        const all = await contents(kernel.closest(".group"));
        const [first, text] = all.kernels[kernel.id].ptx;
        const shown = [];
        let before = first - 1;
        text.split("\n").forEach((line, i) => {
          if (!line) return;
          // Short gaps come from line-table directives.
          if (first + i - before > 12) shown.push("     ⋮");
          before = first + i;
          shown.push(`${String(before).padStart(6)}  ${line}`);
        });
        pre.textContent = shown.join("\n");
      } catch (error) {
        pre.textContent = `It could not be unpacked: ${error}`;
      }
    });
  }

  // Search in groups and kernels.
  const box = document.getElementById("filter");
  const texts = new Map();
  for (const group of groups) {
    const heading = `${group.id} ${group.querySelector("h2").textContent}`;
    for (const row of group.querySelectorAll(".ladder tbody tr")) {
      texts.set(row, `${heading} ${row.querySelector("th").textContent}`.toLowerCase());
    }
  }
  function filter() {
    const words = box.value.toLowerCase().split(/\s+/);
    let n = 0;
    for (const group of groups) {
      let n_here = 0;
      for (const row of group.querySelectorAll(".ladder tbody tr")) {
        row.hidden = !words.every((word) => texts.get(row).includes(word));
        n_here += row.hidden ? 0 : 1;
      }
      group.hidden = n_here === 0;
      const link = links.find((link) => link.getAttribute("href") === `#${group.id}`);
      link.parentElement.hidden = n_here === 0;
      n += n_here;
    }
    main.querySelector(".nothing").hidden = n > 0;
  }
  menu.querySelector(".filter").hidden = false;
  box.addEventListener("input", filter);

  const narrow = matchMedia("(max-width: 56rem)");
  const contents_list = menu.querySelector("details");
  contents_list.open = !narrow.matches;
  narrow.addEventListener("change", () => { contents_list.open = !narrow.matches; });

  function go() {
    const at = show();
    if (narrow.matches) contents_list.open = false;
    const maps = at?.map && at.kernels[0]?.querySelector(".maps");
    const target = maps || (at?.kernels[0] ?? at?.group);
    if (target && location.hash.length > 1) {
      target.scrollIntoView();
      // Keep the focus on the link of the chosen map.
      if (!maps) target.focus({ preventScroll: true });
    } else {
      scrollTo(0, 0);
    }
  }
  // The address stays: it names what is shown.
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  addEventListener("hashchange", go);
  if (location.hash) go();
  else show();
})();
