/** Reads what a source file imports and which effects it uses, from its syntax tree. */
import { parseAst } from "rolldown/parseAst";

/**
 * @param {string} source
 * @param {string} file its name, for the parser's messages
 * @returns {{imports: {specifier: string | undefined, line: number, kind: "static" | "type" | "dynamic"}[],
 *   members: {object: string, name: string, line: number}[], globals: {name: string, line: number}[],
 *   clocks: number[], starExports: number[], onlyReexports: boolean}}
 *   `specifier` is undefined if it is not a plain string; `clocks` are the lines of `new Date()` and `Date()`.
 */
export function readModule(source, file) {
  const program = parseAst(source, { lang: "ts" }, file);
  const lineOf = lineIndex(source);
  const found = { imports: [], members: [], globals: [], clocks: [], starExports: [], onlyReexports: false };
  visit(program, (node) => {
    const line = lineOf(node.start);
    readImport(node, line, found);
    readEffect(node, line, found);
  });
  found.onlyReexports = onlyReexports(program.body);
  return found;
}

const IMPORTS = {
  ImportDeclaration: (node) => [node.source, node.importKind === "type" ? "type" : "static"],
  ExportAllDeclaration: (node) => [node.source, node.exportKind === "type" ? "type" : "static"],
  ExportNamedDeclaration: (node) =>
    node.source ? [node.source, node.exportKind === "type" ? "type" : "static"] : undefined,
  ImportExpression: (node) => [node.source, "dynamic"],
  TSImportType: (node) => [node.source, "type"],
  TSExternalModuleReference: (node) => [node.expression, "static"],
  CallExpression: (node) => (isRequire(node.callee) ? [node.arguments[0], "static"] : undefined),
};

function readImport(node, line, found) {
  const [source, kind] = IMPORTS[node.type]?.(node) ?? [];
  if (kind !== undefined) found.imports.push({ specifier: plainString(source), line, kind });
  if (node.type === "ExportAllDeclaration") found.starExports.push(line);
}

/** The members of a global object that a node names, as [object, name] pairs. */
const MEMBERS = {
  MemberExpression: (node) => [
    [globalName(node.object), node.computed ? plainString(node.property) : node.property.name],
  ],
  VariableDeclarator: (node) =>
    node.id.type === "ObjectPattern" && node.init
      ? node.id.properties.map(({ key }) => [globalName(node.init), key?.name ?? key?.value])
      : [],
  ImportDeclaration: (node) =>
    /^(node:)?process$/.test(node.source.value)
      ? node.specifiers.map(({ imported }) => ["process", imported?.name])
      : [],
};

function readEffect(node, line, found) {
  for (const [object, name] of MEMBERS[node.type]?.(node) ?? [])
    if (object !== undefined && name !== undefined) found.members.push({ object, name, line });
  if (isClock(node)) found.clocks.push(line);
  // A timer passed as a value (`delay = setTimeout`) counts as used, like a call.
  for (const value of [node.callee, node.init, node.right, ...(node.arguments ?? [])])
    if (value?.type === "Identifier") found.globals.push({ name: value.name, line });
}

/** `new Date()` and `Date()`; a date made of a given number is not a clock. */
function isClock(node) {
  if (node.type === "NewExpression") return globalName(node.callee) === "Date" && node.arguments.length === 0;
  return node.type === "CallExpression" && globalName(node.callee) === "Date";
}

/** `process`, also written `globalThis.process`. */
function globalName(node) {
  if (node.type === "Identifier") return node.name;
  const isGlobal = node.type === "MemberExpression" && !node.computed && node.object.name === "globalThis";
  return isGlobal ? node.property.name : undefined;
}

function isRequire(callee) {
  return callee.name === "require" || callee.callee?.name === "createRequire";
}

function plainString(node) {
  if (node?.type === "TSLiteralType") return plainString(node.literal);
  if (node?.type === "Literal" && typeof node.value === "string") return node.value;
  return node?.type === "TemplateLiteral" && node.expressions.length === 0
    ? node.quasis[0].value.cooked
    : undefined;
}

/** Whether a module only re-exports from other modules, in either syntax. */
function onlyReexports(body) {
  const imported = new Set();
  for (const statement of body)
    for (const { local } of statement.type === "ImportDeclaration" ? statement.specifiers : [])
      imported.add(local.name);
  const reexports = (statement) =>
    statement.type === "ExportAllDeclaration" ||
    (statement.type === "ExportNamedDeclaration" &&
      !statement.declaration &&
      (statement.source || statement.specifiers.every(({ local }) => imported.has(local.name))));
  return (
    body.some(reexports) &&
    body.every((statement) => statement.type === "ImportDeclaration" || reexports(statement))
  );
}

function visit(node, callback) {
  callback(node);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value])
      if (typeof child?.type === "string") visit(child, callback);
  }
}

/** Returns a function that returns the line of an offset, from 1. */
function lineIndex(source) {
  const starts = [0];
  for (let at = source.indexOf("\n"); at >= 0; at = source.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    let line = 0;
    let above = starts.length;
    while (above - line > 1) {
      const middle = (line + above) >> 1;
      if (starts[middle] <= offset) line = middle;
      else above = middle;
    }
    return line + 1;
  };
}
