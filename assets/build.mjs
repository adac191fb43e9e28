// Builds dist/: one stylesheet, one script, one icon sprite, each under a name
// with its content's hash, precompressed, and manifest.json that maps the plain
// names to the built ones. Runs offline once node_modules is there.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import postcss from "postcss";
import { PurgeCSS } from "purgecss";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "dist");
const modules = join(here, "node_modules");
const manifest = {};

// emit writes one file under its hashed name, with gzip and brotli copies where they pay.
function emit(name, content, { list = true } = {}) {
  const bytes = Buffer.from(content);
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
  const dot = name.lastIndexOf(".");
  const built = `${name.slice(0, dot)}-${hash}${name.slice(dot)}`;
  writeFileSync(join(dist, built), bytes);
  if (bytes.length > 1024) {
    writeFileSync(join(dist, built + ".gz"), gzipSync(bytes, { level: 9 }));
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
    writeFileSync(join(dist, built + ".br"), brotliCompressSync(bytes, { params }));
  }
  if (list) manifest[name] = built;
  return built;
}

// themeFromSystem repeats every dark rule for people who chose no theme and whose
// system is dark, so that the first paint is right without any script.
const themeFromSystem = {
  postcssPlugin: "theme-from-system",
  Once(root, { AtRule }) {
    const dark = /\[data-bs-theme=["']?dark["']?\]/g;
    root.walkRules((rule) => {
      if (!dark.test(rule.selector) || rule.parent.type === "atrule" && rule.parent.name === "keyframes") return;
      dark.lastIndex = 0;
      const media = new AtRule({ name: "media", params: "(prefers-color-scheme: dark)" });
      const copy = rule.clone();
      copy.selectors = rule.selectors.filter((s) => s.includes("data-bs-theme")).map((s) => s.replace(dark, "[data-bs-theme=auto]"));
      media.append(copy);
      rule.after(media);
    });
  },
};

// imagesAsFiles moves data: images into files, so that the content policy needs
// no data: source.
const imagesAsFiles = {
  postcssPlugin: "images-as-files",
  Declaration(decl) {
    if (!decl.value.includes("data:image/svg+xml")) return;
    decl.value = decl.value.replace(/url\((["'])data:image\/svg\+xml(;[^,]*)?,(.*?)\1\)/g, (_, q, params, body) => {
      const svg = (params || "").includes("base64") ? Buffer.from(body, "base64").toString() : decodeURIComponent(body);
      return `url("${emit("shape.svg", svg, { list: false })}")`;
    });
  },
};

// templates lists every file whose words may be class names.
function templates(dir, found = []) {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) templates(path, found);
    else if (/\.(templ|go)$/.test(entry.name) && !/_templ\.go$/.test(entry.name)) found.push(path);
  }
  return found;
}

async function styles() {
  const pages = templates(join(here, "..", "web"));
  const scripts = readdirSync(join(here, "js")).map((f) => join(here, "js", f));
  const tabler = readFileSync(join(modules, "@tabler/core/dist/css/tabler.css"), "utf8");
  const [kept] = await new PurgeCSS().purge({
    content: [...pages, ...scripts],
    css: [{ raw: tabler }],
    variables: true,
    keyframes: true,
    fontFace: true,
    defaultExtractor: (text) => text.match(/[\w-/:]+(?<!:)/g) || [],
    // Words of ours that mean something else in Tabler: its rules for them stay out.
    blocklist: ["active", "alert", "badge", "chart", "col", "empty", "g", "grid", "hover", "lead", "legend", "map", "mark", "nav", "page", "page-body",
      "page-title", "placeholder", "prose", "required", "row", "show", "small", "status", "steps", "tag", "timeline"].map((c) => new RegExp(`^${c}$`)),
    safelist: { standard: ["data-bs-theme", "html", "body"], greedy: [] },
  });
  const own = readdirSync(join(here, "css")).sort().map((f) => readFileSync(join(here, "css", f), "utf8")).join("\n");
  const all = kept.css.replace(/^@charset[^;]*;/, "").replace(/\/\*#.*?\*\//g, "") + "\n" + own;
  const themed = await postcss([themeFromSystem, imagesAsFiles]).process(all, { from: undefined });
  const min = await esbuild.transform(themed.css, { loader: "css", minify: true, legalComments: "none", target: ["chrome110", "firefox110", "safari16"] });
  return emit("app.css", min.code);
}

async function scripts() {
  const out = await esbuild.build({
    entryPoints: [join(here, "js", "app.js")],
    bundle: true, minify: true, write: false, format: "iife", legalComments: "none", target: ["chrome110", "firefox110", "safari16"],
  });
  return emit("app.js", out.outputFiles[0].contents);
}

// sprite gathers the icons that pages name, from icons.txt (plain name, Tabler name).
function sprite() {
  const symbols = readFileSync(join(here, "icons.txt"), "utf8").split("\n").filter((l) => l.trim() && !l.startsWith("#")).map((line) => {
    const [name, from = name] = line.trim().split(/\s+/);
    const svg = readFileSync(join(modules, "@tabler/icons/icons/outline", from + ".svg"), "utf8");
    const inner = svg.slice(svg.indexOf(">", svg.indexOf("<svg")) + 1, svg.lastIndexOf("</svg>")).replace(/\s*\n\s*/g, "");
    return `<symbol id="${name}" viewBox="0 0 24 24">${inner}</symbol>`;
  });
  return emit("icons.svg", `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join("")}</svg>`);
}

mkdirSync(dist, { recursive: true });
for (const f of readdirSync(dist)) if (f !== ".keep") rmSync(join(dist, f));
sprite();
emit("favicon.svg", readFileSync(join(here, "favicon.svg")));
await styles();
await scripts();
writeFileSync(join(dist, "manifest.json"), JSON.stringify(manifest, null, 2) + "\n");
for (const [name, built] of Object.entries(manifest)) {
  const bytes = readFileSync(join(dist, built));
  console.log(`${name.padEnd(12)} ${String(bytes.length).padStart(7)} bytes, ${gzipSync(bytes).length} gzipped`);
}
