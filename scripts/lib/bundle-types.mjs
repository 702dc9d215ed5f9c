/** The first words of a statement at the top of a declaration file, as the compiler writes it. */
const STATEMENT =
  /^(?:export )?(?:declare )?(?:abstract )?(?:class|function|interface|type|const|let|enum) ([\w$]+)/;
const IMPORT = /^(?:import|export) (?:type )?\{([^}]*)\} from "([^"]+)";$/;

/**
 * Bundles declaration files into one text with only what the entry's exports need.
 * @param {string} entry the path of the entry's declarations, which only re-exports names
 * @param {(path: string) => string} read returns a file
 * @param {(from: string, specifier: string) => string} resolve returns the path of an imported file
 * @throws Error for a declaration that comes from a package, or whose name two files declare
 */
export function bundleTypes(entry, read, resolve) {
  const found = new Map();
  const files = new Map();
  const fileOf = (path) => {
    if (!files.has(path)) files.set(path, parseFile(path));
    return files.get(path);
  };
  const parseFile = (path) => {
    const declared = new Map();
    const imported = new Map();
    for (const { text, code } of statementsOf(read(path))) {
      const from = IMPORT.exec(code.replaceAll(/\s*\n\s*/g, " "));
      if (from !== null) {
        for (const [name, local] of namesIn(from[1])) imported.set(local, { name, specifier: from[2] });
        continue;
      }
      const name = STATEMENT.exec(code)?.[1];
      if (name !== undefined) declared.set(name, text);
    }
    return { declared, imported };
  };
  const include = (path, name) => {
    const { declared, imported } = fileOf(path);
    const from = imported.get(name);
    if (from !== undefined) return include(pathOf(path, from.specifier), from.name);
    const text = declared.get(name);
    if (text === undefined) return;
    const existing = found.get(name);
    if (existing !== undefined) {
      if (existing.path !== path) throw new Error(`${name} is declared in ${existing.path} and in ${path}.`);
      return;
    }
    found.set(name, { path, text });
    for (const word of new Set(withoutComments(text).match(/[\w$]+/g))) {
      if (word !== name && (declared.has(word) || imported.has(word))) include(path, word);
    }
  };
  const pathOf = (path, specifier) => {
    if (!specifier.startsWith(".")) throw new Error(`${path} needs types of the package ${specifier}.`);
    return resolve(path, specifier);
  };
  const exported = statementsOf(read(entry)).flatMap(({ code }) => {
    const from = IMPORT.exec(code.replaceAll(/\s*\n\s*/g, " "));
    return from === null ? [] : namesIn(from[1]).map(([name]) => ({ name, path: pathOf(entry, from[2]) }));
  });
  for (const { name, path } of exported) include(path, name);
  const publicNames = new Set(exported.map(({ name }) => name));
  const statements = [...found].map(([name, { text }]) => published(text, publicNames.has(name)));
  return `${statements.join("\n")}\nexport {};\n`;
}

/** Splits the text of a declaration file into its top-level statements, each with the comments before it. */
function statementsOf(text) {
  const statements = [[]];
  // A comment belongs to the statement that begins after it, or is within one, as before a member of a union.
  let comment = [];
  let isInComment = false;
  for (const line of text.split("\n")) {
    if (isInComment || /^\/\*/.test(line)) {
      comment.push(line);
      isInComment = !line.includes("*/");
      continue;
    }
    if (/^(import|export|declare|interface|type|abstract)\b/.test(line)) statements.push([]);
    statements.at(-1).push(...comment, line);
    comment = [];
  }
  return statements.map((lines) => {
    const whole = lines.join("\n").trim();
    return { text: whole, code: withoutLeadingComment(whole) };
  });
}

function withoutLeadingComment(text) {
  return text.replace(/^(\/\*[\s\S]*?\*\/\s*)+/, "");
}

function withoutComments(text) {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, "");
}

/** Returns the pairs of an import's list: the exported name and the local one. */
function namesIn(list) {
  return list
    .split(",")
    .map((one) => one.trim().replace(/^type /, ""))
    .filter((one) => one !== "")
    .map((one) => {
      const [name, local = name] = one.split(" as ");
      return [name, local];
    });
}

/** Returns a statement with or without its export. */
function published(text, isPublic) {
  const [comment = ""] = /^(\/\*[\s\S]*?\*\/\s*)*/.exec(text) ?? [];
  const code = text
    .slice(comment.length)
    .replace(/^export /, "")
    .replace(/^(class|function|const|let|enum|abstract)/, "declare $1");
  return `${comment}${isPublic ? "export " : ""}${code}\n`;
}
