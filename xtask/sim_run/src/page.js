// Filters findings by text. Without this script all are shown.
const box = document.getElementById("filter");
if (box) {
  const findings = [...document.querySelectorAll("#findings article")];
  const texts = findings.map((finding) => finding.textContent.toLowerCase());
  const shown = document.getElementById("shown");
  box.parentElement.hidden = false;
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/);
    let n = 0;
    findings.forEach((finding, i) => {
      finding.hidden = !words.every((word) => texts[i].includes(word));
      n += finding.hidden ? 0 : 1;
    });
    shown.textContent = `${n} of ${findings.length} shown`;
  });
}
