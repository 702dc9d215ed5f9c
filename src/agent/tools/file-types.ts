/** Endings of file names by the kinds that a search can be narrowed to, named as ripgrep names them. */
const ENDINGS: Readonly<Record<string, string>> = {
  c: "c h",
  cpp: "cpp cc cxx hpp hh hxx h inl",
  csharp: "cs",
  css: "css scss sass less",
  elixir: "ex exs eex",
  go: "go",
  haskell: "hs lhs",
  html: "html htm ejs",
  java: "java jsp properties",
  js: "js jsx mjs cjs vue",
  json: "json jsonc jsonl",
  kotlin: "kt kts",
  lua: "lua",
  md: "md markdown mdx",
  php: "php",
  py: "py pyi",
  ruby: "rb gemspec rake",
  rust: "rs",
  sh: "sh bash zsh ksh fish",
  sql: "sql",
  swift: "swift",
  toml: "toml",
  ts: "ts tsx mts cts",
  xml: "xml xsd xsl svg",
  yaml: "yaml yml",
};

/** Names of all kinds. */
export const FILE_TYPES: readonly string[] = Object.keys(ENDINGS);

/** A glob for the files of a kind; undefined for one that is not known. */
export function globOfType(type: string): string | undefined {
  const endings = Object.hasOwn(ENDINGS, type) ? ENDINGS[type] : undefined;
  if (endings === undefined) return undefined;
  const all = endings.split(" ");
  return all.length === 1 ? `*.${all[0]}` : `*.{${all.join(",")}}`;
}
