// The live parts of a page: a form, and the simulator that answers it. The simulator is loaded
// when a live part first becomes visible. Without it, the reader can choose among cases that were
// computed when the book was built.
(function () {
  "use strict";

  const parts = [...document.querySelectorAll("section.live")];
  if (parts.length === 0) {
    return;
  }
  let loading = null;

  function load() {
    loading ??= script(path_to_root + "live/simulator.js").then(start);
    return loading;
  }

  function script(address) {
    return new Promise((resolve, reject) => {
      const element = document.createElement("script");
      element.src = address;
      element.onload = resolve;
      element.onerror = () => reject(new Error("it was built without the simulator"));
      document.head.append(element);
    });
  }

  // The library is text in a separate file: pages opened from disk may not fetch.
  async function start() {
    const { library, ptx } = window.lockstepSimulator;
    const packed = Uint8Array.from(atob(library), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const bytes = await new Response(stream).arrayBuffer();
    const { instance } = await WebAssembly.instantiate(bytes, {});
    return (question) => ask(instance.exports, question, ptx);
  }

  function ask({ memory, room, answer, length }, [kind, settings], ptx) {
    const question = new TextEncoder().encode(JSON.stringify({ [kind]: { ptx, ...settings } }));
    const at = room(question.length);
    new Uint8Array(memory.buffer, at, question.length).set(question);
    const start = answer(at, question.length);
    return JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, start, length())));
  }

  function settingsOf(form) {
    const settings = {};
    for (const { name, type, value } of form.elements) {
      if (name) {
        settings[name] = type === "number" ? Number(value) : value.trim();
      }
    }
    return settings;
  }

  // After an error, the answer on the page belongs to other settings: it is dimmed.
  function tell(part, text, isError) {
    const state = part.querySelector(".live-state");
    state.textContent = text;
    state.toggleAttribute("data-error", isError);
    part.querySelector(".live-answer").inert = isError;
  }

  function put(part, html) {
    part.querySelector(".live-answer").innerHTML = html;
    window.lockstepPhases(part);
    window.lockstepBoxes(part);
  }

  function run(part, simulator) {
    const form = part.querySelector("form");
    if (!form.checkValidity()) {
      const wrong = [...form.elements].find((element) => !element.checkValidity());
      tell(part, `${wrong.labels[0].textContent.trim()}: ${wrong.validationMessage}`, true);
      return;
    }
    const begun = performance.now();
    const kind = part.dataset.live;
    let answer;
    try {
      answer = simulator([kind, settingsOf(form)]);
    } catch (error) {
      tell(part, `The simulator stopped: ${error.message}. Reload the page.`, true);
      return;
    }
    if (answer.error !== undefined) {
      tell(part, answer.error, true);
      return;
    }
    put(part, answer[kind].html);
    const time = Math.max(1, Math.round(performance.now() - begun));
    tell(part, `Run and drawn in this page, in ${time} ms. ${figures(answer[kind])}`, false);
  }

  function figures({ wavefronts, conflicts, sectors }) {
    if (sectors !== undefined) {
      return `${sectors} sectors.`;
    }
    return `Reads: ${wavefronts} wavefronts, ${conflicts} bank conflicts.`;
  }

  // Without the simulator a choice of cases replaces the form.
  function fallBack(part, reason) {
    const cases = JSON.parse(part.querySelector(".live-cases").textContent);
    const form = part.querySelector("form");
    const settings = settingsOf(form);
    const first = { settings, html: part.querySelector(".live-answer").innerHTML };
    const all = [first, ...cases];
    const select = document.createElement("select");
    all.forEach((one, number) => {
      const changed = Object.entries(one.settings).filter(
        ([name, value]) => number === 0 || String(settings[name]) !== String(value)
      );
      const words = changed.map(([name, value]) => `${name} ${value}`).join(", ");
      select.append(new Option(words, String(number)));
    });
    select.addEventListener("change", () => put(part, all[Number(select.value)].html));
    const label = document.createElement("label");
    label.append("Case ", select);
    form.replaceChildren(label);
    tell(part, `Nothing runs in this page (${reason}). These cases were precomputed.`, false);
  }

  function begin(part) {
    tell(part, "Computed when this book was built. Loading the simulator…", false);
    load().then(
      (simulator) => {
        const again = () => run(part, simulator);
        const form = part.querySelector("form");
        form.addEventListener("change", again);
        // A choice from the list of suggestions takes effect at once.
        form.addEventListener("input", ({ target }) => {
          const words = target.list ? [...target.list.options].map((option) => option.value) : [];
          if (words.includes(target.value)) {
            again();
          }
        });
        part.dataset.ready = "true";
        again();
      },
      (error) => {
        fallBack(part, error.message);
        part.dataset.ready = "false";
      }
    );
  }

  for (const part of parts) {
    part.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  }
  const watch = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (isIntersecting) {
        watch.unobserve(target);
        begin(target);
      }
    }
  });
  parts.forEach((part) => watch.observe(part));
})();
