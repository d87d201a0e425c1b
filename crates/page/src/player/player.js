// Plays a block's run, frame by frame, forwards and backwards. The data are a `Player` of the
// crate `lockstep_page`: frames, and tables of what frames have in common. Everything that a frame
// shows is computed from the frames up to it, so that any frame can be shown at any time.
//
// A section with data in the page is started at once; `lockstepPlayer(section, data)` starts others.
window.lockstepPlayer = (() => {
  "use strict";

  const COLUMNS = 32;
  const LINE_BYTES = 128;
  const SECTOR_BYTES = 32;
  // Larger memories are drawn by lines, not by words.
  const MOST_ROWS_OF_WORDS = 64;
  // Grids with more rows than this have lower ones.
  const DENSE_ROWS = 16;
  const MS_PER_FRAME = 400;
  // The namespace of SVG, as the parser of HTML has it: a page names no address.
  const SVG = (() => {
    const holder = document.createElement("template");
    holder.innerHTML = "<svg></svg>";
    return holder.content.firstChild.namespaceURI;
  })();

  function make(tag, name, text) {
    const element = document.createElement(tag);
    if (name) element.className = `player-${name}`;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  function draw(tag, attributes) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  }

  const plural = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

  // [0, 1, 2, 5]: "0–2, 5".
  function ranges(numbers) {
    const runs = [];
    for (const n of numbers) {
      const last = runs.at(-1);
      if (last && n === last[1] + 1) last[1] = n;
      else runs.push([n, n]);
    }
    return runs.map(([from, to]) => (from === to ? from : `${from}–${to}`)).join(", ");
  }

  const lanesOf = (mask = 0) => Array.from({ length: COLUMNS }, (_, lane) => lane)
    .filter((lane) => (mask >>> lane) & 1);

  // --- What a frame says -----------------------------------------------------------------------

  // The accesses of a frame's lanes: where, and in which wavefront and phase.
  function accesses(film, frame) {
    const touch = frame.touch;
    if (!touch) return [];
    const served = film.served[touch.served];
    const ends = [];
    served?.phases.forEach((n, at) => ends.push(n + (ends[at - 1] ?? 0)));
    return lanesOf(frame.lanes).map((lane, at) => {
      const address = touch.first + film.patterns[touch.pattern][at];
      if (!served) return { lane, address };
      const wavefront = served.wavefronts[at];
      const phase = ends.findIndex((end) => wavefront < end);
      return { lane, address, wavefront, isLate: wavefront > (ends[phase - 1] ?? 0) };
    });
  }

  function sentence({ film }, frame) {
    const warp = frame.warp === undefined ? "" : `Warp ${frame.warp}: `;
    const times = frame.times > 1 ? `, ${frame.times} times` : "";
    return `${warp}${film.texts[frame.text]}${times}.`;
  }

  // The words of shared memory, or its lines if there are many, by who wrote them last. Steps
  // forward are added; for a step back it starts anew.
  function memoryOf({ film }) {
    let [from, to] = [Infinity, 0];
    const isWanted = (frame) => frame.touch && frame.touch.served !== undefined
      || frame.kind === "copy" && frame.touch && !frame.touch.sectors;
    for (const frame of film.frames) {
      const parts = [...(frame.target ?? [])];
      if (isWanted(frame)) {
        for (const { address } of accesses(film, frame)) parts.push([address, address + frame.touch.bytes]);
      }
      for (const [start, end] of parts) [from, to] = [Math.min(from, start), Math.max(to, end)];
    }
    if (to === 0) return null;
    from -= from % LINE_BYTES;
    const unit = to - from > MOST_ROWS_OF_WORDS * LINE_BYTES ? LINE_BYTES : LINE_BYTES / COLUMNS;
    const units = (start, end) => {
      const first = Math.floor((start - from) / unit);
      const n = Math.max(1, Math.ceil((end - from) / unit) - first);
      return Array.from({ length: n }, (_, at) => first + at);
    };
    const rows = new Set();
    for (const frame of film.frames) {
      for (const at of touched(frame)) rows.add(Math.floor(at / COLUMNS));
    }
    function touched(frame) {
      const parts = (frame.target ?? []).concat(isWanted(frame)
        ? accesses(film, frame).map(({ address }) => [address, address + frame.touch.bytes]) : []);
      return new Set(parts.flatMap(([start, end]) => units(start, end)));
    }
    const targets = new Map();
    for (const { copy, target } of film.frames) if (target) targets.set(copy, target);
    let [next, written] = [0, new Map()];
    function follow(frame) {
      for (const [start, end] of frame.target ?? []) {
        for (const at of units(start, end)) written.set(at, { copy: frame.copy, isFlying: true });
      }
      if (frame.copy !== undefined && !frame.target) {
        for (const [start, end] of targets.get(frame.copy) ?? []) {
          for (const at of units(start, end)) written.set(at, { copy: frame.copy });
        }
      }
      if (!isWanted(frame) || !frame.touch.writes) return;
      for (const { lane, address } of accesses(film, frame)) {
        for (const at of units(address, address + frame.touch.bytes)) {
          written.set(at, { warp: frame.warp, lane });
        }
      }
    }
    return {
      from,
      unit,
      // Rows of 32 units of which any is ever touched.
      rows: [...rows].sort((a, b) => a - b),
      // By unit: who wrote it last, up to this frame.
      at(number) {
        if (number + 1 < next) [next, written] = [0, new Map()];
        while (next <= number) follow(film.frames[next++]);
        return written;
      },
      // The units that a frame touches.
      touched,
    };
  }

  // By warp, the number of its last frame up to each frame.
  function lastFrames({ film }) {
    const last = new Map();
    return film.frames.map((frame, at) => {
      if (frame.warp !== undefined) last.set(frame.warp, at);
      return new Map(last);
    });
  }

  // --- Parts of the player -------------------------------------------------------------------

  // Rows of 32 cells, with labels on the left; only cells with something in them are elements.
  function grid(name, label, heading) {
    const box = make("figure", name);
    const title = make("figcaption", "", heading);
    const cells = make("div", "grid");
    cells.setAttribute("role", "img");
    box.append(title, cells);
    return {
      box,
      title,
      cells,
      // Empties it, with that many rows. `marks` are the labels of the columns.
      clear(n_rows, marks, labels) {
        cells.replaceChildren();
        const raster = make("div", "raster");
        raster.style.gridRow = `2 / span ${Math.max(n_rows, 1)}`;
        raster.style.setProperty("--rows", Math.max(n_rows, 1));
        cells.append(raster);
        for (let at = 0; at < COLUMNS; at += 4) cells.append(this.text("mark", 1, at, marks(at), 4));
        for (let row = 0; row < n_rows; row += 1) {
          const text = labels(row);
          if (text !== "") cells.append(this.text("label", row + 2, -1, text));
        }
      },
      text(name, row, column, text, span = 1) {
        const cell = make("span", name, text);
        cell.style.gridArea = `${row} / ${column + 2} / auto / span ${span}`;
        return cell;
      },
      // A line above a row.
      rule(row) {
        const line = make("span", "rule");
        line.style.gridArea = `${row + 2} / 1 / auto / -1`;
        cells.append(line);
      },
      put(row, column, name, text, tip, span = 1) {
        const cell = this.text(`cell ${name}`, row + 2, column, text, span);
        cell.title = tip;
        cells.append(cell);
        return cell;
      },
      say(text) {
        cells.setAttribute("aria-label", `${label}: ${text}`);
      },
    };
  }

  // Where an access goes: banks by wavefront, or the words of lines of global memory.
  function touchPart(data) {
    const part = grid("touch", "Where the lanes go", "");
    const linesOf = (words) => [...new Set(words.map((word) => Math.floor(word / COLUMNS)))];
    // Room for the largest access, so that nothing below moves.
    const rowsOf = (frame) => frame.touch?.wavefronts
      ?? linesOf(accesses(data.film, frame).map(({ address }) => address / 4)).length;
    const most = Math.max(1, ...data.film.frames.map(rowsOf));
    part.cells.style.setProperty("--most", most);
    part.cells.classList.toggle("player-dense", most > DENSE_ROWS);

    function banks(frame, all) {
      const n_rows = frame.touch.wavefronts;
      const cells = new Map();
      for (const { lane, address, wavefront, isLate } of all) {
        const first = Math.floor(address / 4);
        const end = Math.max(first + 1, Math.ceil((address + frame.touch.bytes) / 4));
        for (let word = first; word < end; word += 1) {
          const at = wavefront * COLUMNS + (word % COLUMNS);
          if (!cells.has(at)) cells.set(at, { isLate, lanes: [] });
          cells.get(at).lanes.push(lane);
        }
      }
      const { phases } = data.film.served[frame.touch.served];
      part.title.textContent = "Banks of shared memory, a row per wavefront"
        + (phases.length > 1 ? `, in ${phases.length} phases` : "");
      part.clear(n_rows, String, (row) => row + 1);
      let before = 0;
      for (const n of phases.slice(0, -1)) part.rule(before += n);
      for (const [at, { isLate, lanes }] of cells) {
        const [row, bank] = [Math.floor(at / COLUMNS), at % COLUMNS];
        const text = lanes.length === 1 ? lanes[0] : `${lanes.length}×`;
        part.put(row, bank, isLate ? "player-late" : "player-served", text, `bank ${bank}, wavefront ${row + 1}: lanes ${ranges(lanes)}`);
      }
      part.say(`${plural(n_rows, "wavefront")}, ${plural(frame.touch.conflicts ?? 0, "bank conflict")}`);
    }

    function lines(frame, all) {
      const used = new Map();
      for (const { lane, address } of all) {
        for (let word = Math.floor(address / 4); word * 4 < address + frame.touch.bytes; word += 1) {
          if (!used.has(word)) used.set(word, []);
          used.get(word).push(lane);
        }
      }
      const rows = linesOf([...used.keys()]).sort((a, b) => a - b);
      const offset = (line) => `+${(line - rows[0]) * LINE_BYTES}`;
      part.title.textContent = `${frame.kind === "local" ? "Local" : "Global"} memory, a row per line of 128 bytes, four sectors each`;
      part.clear(rows.length, (at) => (at % 8 === 0 ? `sector ${at / 8}` : ""), (row) => offset(rows[row]));
      const per_sector = SECTOR_BYTES / 4;
      rows.forEach((line, row) => {
        for (let at = 0; at < COLUMNS; at += 1) {
          const lanes = used.get(line * COLUMNS + at);
          const first = at - (at % per_sector);
          const isMoved = Array.from({ length: per_sector }, (_, i) => first + i)
            .some((i) => used.has(line * COLUMNS + i));
          if (lanes) {
            const text = lanes.length === 1 ? lanes[0] : `${lanes.length}×`;
            part.put(row, at, "player-served", text, `lanes ${ranges([...new Set(lanes)])}`);
          } else if (isMoved) {
            part.put(row, at, "player-unused", "", "moved, and not used");
          }
        }
      });
      part.say(plural(frame.touch.sectors ?? 0, "sector"));
    }

    part.show = (frame) => {
      const all = accesses(data.film, frame);
      part.box.dataset.empty = all.length === 0;
      if (all.length === 0) {
        part.title.textContent = "No access in this frame";
        part.clear(1, String, () => "");
        part.say("nothing is accessed");
      } else if (frame.touch.served !== undefined) {
        banks(frame, all);
      } else {
        lines(frame, all);
      }
    };
    return part;
  }

  // Shared memory: who wrote each word last, and what is touched now.
  function memoryPart(data) {
    const memory = memoryOf(data);
    if (!memory) return null;
    const { unit, from, rows } = memory;
    const isByWord = unit < LINE_BYTES;
    const part = grid("memory", "Shared memory", "");
    const cells = new Map();
    // Where a unit is drawn: in the memory's order, or in the tile's.
    let place = null;
    function order(isTile) {
      cells.clear();
      if (isTile) {
        const { n_rows, words } = data.tile;
        const per_row = words.length / n_rows;
        const places = new Map(words.map((word, at) => [word - from / unit, at]));
        place = (at) => places.has(at) && [Math.floor(places.get(at) / per_row), places.get(at) % per_row];
        part.clear(n_rows, () => "", String);
      } else {
        place = (at) => [rows.indexOf(Math.floor(at / COLUMNS)), at % COLUMNS];
        part.clear(rows.length, isByWord ? String : (at) => `+${at * unit}`, (row) => from + rows[row] * unit * COLUMNS);
      }
    }
    part.title.textContent = isByWord
      ? "Shared memory: the lane that wrote each word last, "
      : "Shared memory, a cell per 128 bytes: the copy or warp that wrote it last";
    const select = make("select");
    if (isByWord && data.tile) {
      select.append(new Option("by bank", ""), new Option("as the tile's rows and columns", "tile"));
      select.setAttribute("aria-label", "Order of shared memory");
      part.title.append(select);
    } else if (isByWord) {
      part.title.append("by bank");
    }
    order(false);
    part.cells.classList.toggle("player-dense", rows.length > DENSE_ROWS);
    let again = null;
    select.addEventListener("change", () => { order(select.value === "tile"); again(); });
    part.show = (frame, number) => {
      again = () => part.show(frame, number);
      const written = memory.at(number);
      const touched = memory.touched(frame);
      for (const at of new Set([...cells.keys(), ...written.keys(), ...touched])) {
        const by = written.get(at);
        const now = touched.has(at) ? (frame.touch?.writes || frame.target ? "writing" : "reading") : "";
        const key = by || now ? `${by?.warp} ${by?.lane} ${by?.copy} ${by?.isFlying} ${now}` : "";
        let cell = cells.get(at);
        if (cell?.dataset.key === key) continue;
        cell?.remove();
        cells.delete(at);
        const [row, column] = place(at) || [];
        if (key === "" || row === undefined) continue;
        const text = by?.copy ?? (isByWord ? by?.lane : by?.warp) ?? "";
        const who = by?.copy !== undefined ? `bulk copy ${by.copy}${by.isFlying ? ", in flight" : ""}`
          : by ? `warp ${by.warp}, lane ${by.lane}` : "not written yet";
        const name = `${by ? "player-written" : ""} ${by?.isFlying ? "player-flying" : ""} ${now && `player-${now}`}`;
        const tip = `byte ${from + at * unit}: ${who}`;
        cell = part.put(row, column, name, text, tip);
        cell.dataset.key = key;
        cell.style.setProperty("--by", by?.copy ?? by?.warp ?? 0);
        cells.set(at, cell);
      }
      part.say(`${plural(written.size, isByWord ? "word" : "line")} written, ${touched.size} touched now`);
    };
    return part;
  }

  // The lanes of each warp, and what it is doing.
  function warpsPart(data, last) {
    const box = make("div", "warps player-scroll");
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Warps and their lanes");
    const rows = new Map();
    for (const warp of data.film.warps) {
      const row = make("div", "warp");
      const lanes = draw("svg", { viewBox: "0 0 32 1", preserveAspectRatio: "none", "aria-hidden": "true" });
      const paths = [draw("path", { class: "player-served" }), draw("path", { class: "player-late" })];
      const raster = Array.from({ length: COLUMNS - 1 }, (_, lane) => `M${lane + 1} 0v1`).join("");
      lanes.append(...paths, draw("path", { class: "player-between", d: raster }));
      const state = make("span", "state");
      row.append(make("span", "label", warp), lanes, state);
      rows.set(warp, { row, paths, state });
      box.append(row);
    }
    const outline = (lanes) => lanes.map((lane) => `M${lane} 0h1v1h-1z`).join("");
    box.show = (frame, number) => {
      const board = data.film.boards[frame.board];
      for (const [warp, { row, paths, state }] of rows) {
        const at = last[number].get(warp);
        const own = at === undefined ? null : data.film.frames[at];
        const late = own ? accesses(data.film, own).filter(({ isLate }) => isLate).map(({ lane }) => lane) : [];
        const all = lanesOf(own?.lanes);
        paths[0].setAttribute("d", outline(all.filter((lane) => !late.includes(lane))));
        paths[1].setAttribute("d", outline(late));
        row.classList.toggle("player-acts", warp === frame.warp);
        state.textContent = stateOf(data, board, warp, own);
        if (warp === frame.warp) reveal(box, row);
      }
    };
    return box;
  }

  function stateOf(data, board, warp, frame) {
    if (!frame) return "not begun";
    const words = [];
    const waits = Object.entries(board.barriers ?? {}).filter(([, warps]) => warps[warp]);
    for (const [barrier] of waits) words.push(`waits at barrier ${barrier}`);
    if (board.cluster?.includes(warp)) words.push("waits for the cluster");
    const flying = board.warps?.[warp];
    if (flying) {
      const copies = flying.copy_groups + Math.min(flying.copies, 1);
      const products = flying.product_groups + Math.min(flying.products, 1);
      if (copies) words.push(`${plural(copies, "group")} of copies in flight`);
      if (products) words.push(`${plural(products, "group")} of products in flight`);
    }
    const place = data.places[frame.instruction];
    if (words.length === 0 && place) words.push(place.name);
    return words.join(", ");
  }

  // Scrolls a box, and nothing around it.
  function reveal(box, element) {
    const [top, end] = [element.offsetTop, element.offsetTop + element.offsetHeight];
    if (top < box.scrollTop) box.scrollTop = top - element.offsetHeight;
    else if (end > box.scrollTop + box.clientHeight) box.scrollTop = end - box.clientHeight + element.offsetHeight;
  }

  // The source, with the warps that are at each line.
  function sourcePart(data, last) {
    const box = make("div", "source player-scroll");
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Source");
    const lines = new Map();
    data.files.forEach(({ file, lines: texts }, number) => {
      box.append(make("div", "file", file));
      let before = texts[0]?.[0] - 1;
      for (const [line, text] of texts) {
        if (line !== before + 1) box.append(make("div", "gap", "⋮"));
        before = line;
        const row = make("div", "line");
        const here = make("span", "here");
        row.append(make("span", "label", line), make("code", "", text), here);
        lines.set(`${number}:${line}`, { row, here });
        box.append(row);
      }
    });
    const key = (frame) => {
      const place = data.places[frame?.instruction];
      return place && `${place.file}:${place.line}`;
    };
    // An event that names no instruction leaves its warp where it was.
    const placed = (warp, number) => {
      for (let at = last[number].get(warp); at !== undefined; at = at > 0 ? last[at - 1].get(warp) : undefined) {
        const place = key(data.film.frames[at]);
        if (place) return place;
      }
      return undefined;
    };
    box.show = (frame, number) => {
      const warps = new Map();
      for (const warp of data.film.warps) {
        const place = placed(warp, number);
        if (!warps.has(place)) warps.set(place, []);
        warps.get(place).push(warp);
      }
      const now = key(frame);
      for (const [place, { row, here }] of lines) {
        const all = warps.get(place) ?? [];
        here.textContent = all.length === 0 ? "" : `${all.length === 1 ? "warp" : "warps"} ${ranges(all)}`;
        row.classList.toggle("player-acts", place === now);
        if (place === now) reveal(box, row);
      }
    };
    return box;
  }

  // Barriers, copies in flight, phases of barriers in memory.
  function boardPart(data) {
    const list = make("ul", "board");
    const n_warps = data.film.warps.length;
    list.show = (frame) => {
      const board = data.film.boards[frame.board];
      const items = [];
      for (const [barrier, warps] of Object.entries(board.barriers ?? {})) {
        const come = Object.keys(warps).map(Number);
        items.push(`Barrier ${barrier}: ${come.length} of ${plural(n_warps, "warp")} ${come.length === 1 ? "has" : "have"} come (${ranges(come)})`);
      }
      if (board.cluster) items.push(`The cluster's barrier: warps ${ranges(board.cluster)} have come`);
      const flying = Object.entries(board.bulk ?? {});
      if (flying.length > 0) {
        const each = flying.map(([copy, bytes]) => `${copy} (${plural(bytes, "byte")})`);
        items.push(`Bulk copies in flight: ${each.join(", ")}`);
      }
      const phases = Object.entries(board.phases ?? {}).map(([at, n]) => `byte ${at} in phase ${n}`);
      if (phases.length > 0) items.push(`mbarriers: ${phases.join(", ")}`);
      if (items.length === 0) items.push("Nobody waits, and no bulk copy is in flight");
      list.replaceChildren(...items.map((text) => make("li", "", text)));
    };
    return list;
  }

  // All frames at a glance: a column each, a row per warp, and one for the block.
  function stripPart(data, goTo) {
    const { frames, warps, boards } = data.film;
    const rows = new Map(warps.map((warp, row) => [warp, row]));
    const svg = draw("svg", {
      class: "player-strip",
      viewBox: `0 0 ${frames.length} ${warps.length + 1}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    });
    svg.style.setProperty("--rows", warps.length + 1);
    const paths = new Map();
    const add = (kind, x, row) => paths.set(kind, `${paths.get(kind) ?? ""}M${x} ${row + 0.1}h1v.8h-1z`);
    frames.forEach((frame, x) => {
      for (const waiting of Object.values(boards[frame.board].barriers ?? {})) {
        for (const [warp, waits] of Object.entries(waiting)) if (waits) add("waits", x, rows.get(Number(warp)));
      }
      const kind = frame.touch?.waste ? "waste" : frame.kind;
      add(kind, x, rows.get(frame.warp) ?? warps.length);
    });
    for (const kind of ["waits", ...[...paths.keys()].filter((kind) => kind !== "waits")]) {
      if (paths.has(kind)) svg.append(draw("path", { class: `player-of-${kind}`, d: paths.get(kind) }));
    }
    const here = draw("rect", { class: "player-marker", y: 0, width: 1, height: warps.length + 1 });
    svg.append(here);
    svg.addEventListener("click", ({ clientX }) => {
      const { left, width } = svg.getBoundingClientRect();
      goTo(Math.floor(((clientX - left) / width) * frames.length));
    });
    svg.show = (_, number) => here.setAttribute("x", number);
    const names = {
      global: "global", local: "local", shared: "shared", waste: "wasteful access", barrier: "barrier",
      waits: "waits at a barrier", copy: "copy", mbarrier: "mbarrier", product: "product",
    };
    const legend = make("p", "legend");
    for (const [kind, name] of Object.entries(names)) {
      if (!paths.has(kind)) continue;
      const item = make("span", "kind");
      item.append(make("i", `of-${kind}`), name);
      legend.append(item, " ");
    }
    return { svg, legend };
  }

  // --- The player ----------------------------------------------------------------------------

  function button(text, name, act) {
    const element = make("button", "", text);
    element.type = "button";
    element.setAttribute("aria-label", name);
    element.addEventListener("click", act);
    return element;
  }

  function start(section, data) {
    const { film } = data;
    if (section.dataset.ready || film.frames.length === 0) return;
    section.dataset.ready = "true";
    const last = lastFrames(data);
    // The frames that are stepped through, and which of them is shown.
    let [steps, at, timer] = [film.frames.map((_, number) => number), 0, null];

    const slider = make("input", "slider");
    Object.assign(slider, { type: "range", min: 0 });
    slider.setAttribute("aria-label", "Frame");
    const select = make("select");
    select.append(new Option("all warps", ""), ...film.warps.map((warp) => new Option(`warp ${warp}`, warp)));
    const count = make("output", "count");
    const now = make("p", "now");
    const place = make("p", "place");
    const strip = stripPart(data, (number) => choose(number));
    const parts = [sourcePart(data, last), warpsPart(data, last), touchPart(data), memoryPart(data), boardPart(data)];

    function show() {
      const number = steps[at];
      const frame = film.frames[number];
      slider.max = steps.length - 1;
      slider.value = at;
      slider.setAttribute("aria-valuetext", `frame ${number + 1} of ${film.frames.length}`);
      count.textContent = `${number + 1} / ${film.frames.length}`;
      now.textContent = sentence(data, frame);
      place.replaceChildren(...whereOf(data, frame));
      for (const part of [strip.svg, ...parts]) part?.show(frame, number);
    }
    function step(to) {
      at = Math.min(Math.max(to, 0), steps.length - 1);
      show();
    }
    // The step at a frame, or the next one after it.
    function choose(number) {
      const found = steps.findIndex((other) => other >= number);
      step(found < 0 ? steps.length - 1 : found);
    }
    function pick() {
      const number = steps[at];
      const isIn = ({ warp }) => select.value === "" || warp === undefined || String(warp) === select.value;
      steps = film.frames.map((_, other) => other).filter((other) => isIn(film.frames[other]));
      choose(number);
    }
    function play(plays) {
      clearInterval(timer);
      timer = plays ? setInterval(() => (at + 1 < steps.length ? step(at + 1) : play(false)), MS_PER_FRAME) : null;
      toggle.textContent = plays ? "❚❚ Pause" : "▶ Play";
      toggle.setAttribute("aria-label", plays ? "Pause" : "Play");
      // While it plays, nobody could listen to all of it.
      now.setAttribute("aria-live", plays ? "off" : "polite");
    }
    const toggle = button("", "Play", () => {
      if (timer === null && at + 1 === steps.length) step(0);
      play(timer === null);
    });
    const by = (n) => () => { play(false); step(at + n); };
    const label = make("label", "", "Step through ");
    label.append(select);
    const controls = make("div", "controls");
    controls.append(button("◀", "Previous frame", by(-1)), toggle, button("▶", "Next frame", by(1)), label, count);

    slider.addEventListener("input", () => { play(false); step(Number(slider.value)); });
    select.addEventListener("change", pick);
    section.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.target === select) return;
      const keys = {
        ArrowLeft: by(-1), ArrowRight: by(1), PageUp: by(-10), PageDown: by(10),
        Home: () => by(-steps.length)(), End: () => by(steps.length)(),
        ArrowUp: () => warp(-1), ArrowDown: () => warp(1),
      };
      const scrolls = event.target.closest(".player-scroll") && !["ArrowLeft", "ArrowRight"].includes(event.key);
      if (!keys[event.key] || scrolls) return;
      keys[event.key]();
      event.preventDefault();
      // In the book, arrow keys also turn pages.
      event.stopPropagation();
    });
    function warp(n) {
      const to = select.selectedIndex + n;
      if (to < 0 || to >= select.options.length) return;
      select.selectedIndex = to;
      pick();
    }

    const body = make("div", "body");
    const columns = [make("div", "column"), make("div", "column")];
    columns[0].append(parts[0], parts[1], parts[4]);
    columns[1].append(...[parts[2], parts[3]].filter((part) => part).map(({ box }) => box));
    body.append(...columns);
    const hint = make("p", "hint", `${data.extent}. Keys: ← → a frame, ↑ ↓ another warp, Home and End.`);
    section.append(controls, strip.svg, slider, strip.legend, now, place, body, hint);
    // A click anywhere in it lets keys work.
    section.tabIndex = -1;
    play(false);
    show();
  }

  // The instruction, and the lines that it comes from.
  function whereOf(data, frame) {
    const instruction = data.film.instructions[frame.instruction];
    if (!instruction) return ["\u00a0"];
    const place = data.places[frame.instruction];
    const parts = [make("code", "", instruction.opcode)];
    if (place) parts.push(" at ", make("code", "", place.name));
    if (place?.written_at) parts.push(", inlined from ", make("code", "", place.written_at));
    return [...parts, `, PTX line ${instruction.ptx_line}`];
  }

  for (const section of document.querySelectorAll("section.player")) {
    const element = section.querySelector("script.player-data");
    if (element) start(section, JSON.parse(element.textContent));
  }
  return start;
})();
