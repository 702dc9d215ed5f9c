/**
 * Finds text that is cut at a number of UTF-16 units, outside src/text/characters/. Only types distinguish a text from a list, so this
 * asks TypeScript's checker. Its API is called unstable: typescript is pinned in package-lock.json, and a change of the API fails
 * this check and its test, never silently.
 */
import {
  isBinaryExpression,
  isCallExpression,
  isIdentifier,
  isNumericLiteral,
  isParameterDeclaration,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isTemplateExpression,
  isVariableDeclaration,
  SyntaxKind,
} from "typescript/unstable/ast";
import { API, TypeFlags } from "typescript/unstable/sync";

/** Files that may cut: the functions that everything else calls. */
const HOMES = /\/src\/text\/characters\//;
/** Names of constants and options that contain a limit. */
const LIMIT =
  /^(?:[A-Z][A-Z\d_]+|(?:max|limit|room|width|columns|budget|reach)(?:[A-Z]\w*)?|[a-z]\w*(?:Max|Limit|Room|Width))$/;
/** More names of a parameter that is a limit. */
const LIMIT_PARAMETER = /^(?:length|count|size|n|chars|characters)$/;
/** Maximum number of units that a cut of a known sign removes, such as `~/` or a quote. */
const SIGN = 2;
/** Functions whose result has only ASCII characters, and the forms in which `toString` and `digest` return only these. */
const HASH = /^sha256$/;
const ASCII_FORM = /^(?:\d+|hex|base64|base64url)$/;
/** Maximum variables that are followed, one after the other, to a value. */
const DEPTH = 5;

const TEXT = TypeFlags.String | TypeFlags.StringLiteral | TypeFlags.TemplateLiteral | TypeFlags.Any;

/**
 * @param {{ config: string, root: string, fs?: import("typescript/unstable/fs").FileSystem }} options
 *   path of tsconfig.json; the directory whose files are checked, and from which their paths are shown
 * @returns {string[]} one sentence for each cut: where, what, and what to call
 */
export function textCuts({ config, root, fs }) {
  const api = new API({ cwd: root, ...(fs === undefined ? {} : { fs }) });
  try {
    const [project] = api.updateSnapshot({ openProject: config }).getProjects();
    if (project === undefined) throw new Error(`${config} is not a project.`);
    const names = project.program.getSourceFileNames().filter((name) => name.startsWith(`${root}/src/`));
    return names.filter((name) => !HOMES.test(name)).flatMap((name) => cutsIn(project, name, root));
  } finally {
    api.close();
  }
}

function cutsIn(project, name, root) {
  const file = project.program.getSourceFile(name);
  const cuts = [];
  const pieces = [];
  const visit = (node) => {
    if (isCut(node)) cuts.push(node);
    const piece = decodedPiece(node);
    if (piece !== undefined) pieces.push(piece);
    node.forEachChild(visit);
  };
  visit(file);
  const at = (node) => {
    const start = node.getStart(file);
    return `${name.slice(root.length + 1)}:${file.text.slice(0, start).split("\n").length}`;
  };
  return [
    ...ofType(project, cuts, (type) => isText(project, type))
      .filter((call) => mayDivide(project, call))
      .filter((call) => !isAscii(project, receiverOf(call)))
      .map(
        (call) =>
          `${at(call)}: ${shown(file, call)} may cut a character in two; call textStart, textEnd or cutText.`,
      ),
    ...ofType(project, pieces, (type) => /^Buffer\b/.test(project.checker.typeToString(type))).map(
      (call) =>
        `${at(call)}: ${shown(file, call)} decodes a piece of a stream; use OutputTail or a StringDecoder.`,
    ),
  ];
}

/** Returns the calls of methods whose object has such a type. */
function ofType({ checker }, calls, matches) {
  if (calls.length === 0) return [];
  const types = checker.getTypeAtLocation(calls.map(receiverOf));
  return calls.filter((_, i) => types[i] !== undefined && matches(types[i]));
}

function receiverOf(call) {
  return call.expression.expression;
}

function isCut(node) {
  return isMethod(node, /^(?:slice|substring|substr)$/) && node.arguments.length > 0;
}

function isMethod(node, name) {
  return (
    isCallExpression(node) &&
    isPropertyAccessExpression(node.expression) &&
    name.test(node.expression.name.text)
  );
}

/** Returns a call of `toString` whose result is appended to a text, as in handlers of streams. */
function decodedPiece(node) {
  const parts = isBinaryExpression(node)
    ? [node.right]
    : isTemplateExpression(node)
      ? node.templateSpans.map(({ expression }) => expression)
      : [];
  const appends =
    !isBinaryExpression(node) ||
    [SyntaxKind.PlusToken, SyntaxKind.PlusEqualsToken].includes(node.operatorToken.kind);
  return appends ? parts.find((part) => isMethod(part, /^toString$/) && isUtf8(part)) : undefined;
}

function isUtf8({ arguments: [encoding, ...rest] }) {
  return rest.length === 0 && (encoding === undefined || /^utf-?8$/.test(encoding.text));
}

function isText({ checker }, type) {
  if (type.isUnionType()) return type.getTypes().some((one) => isText({ checker }, one));
  if ((type.flags & TypeFlags.TypeParameter) !== 0) {
    const constraint = checker.getBaseConstraintOfType(type);
    return constraint !== undefined && isText({ checker }, constraint);
  }
  return (type.flags & TEXT) !== 0;
}

/** True unless all positions of a cut were found in a text, or remove a known sign. */
function mayDivide(project, { arguments: [start, end] }) {
  if (isNegative(start)) return isLimit(project, start.operand) || isLarge(start.operand);
  if (isLimit(project, start)) return true;
  // `slice(0, -1)` cuts off a known sign.
  return (
    end !== undefined &&
    !(isNegative(end) && isNumericLiteral(end.operand)) &&
    (isLimit(project, end) || isLarge(end))
  );
}

function isNegative(node) {
  return isPrefixUnaryExpression(node) && node.operator === SyntaxKind.MinusToken;
}

function isLarge(node) {
  return isNumericLiteral(node) && Number(node.text) > SIGN;
}

/** True for a number that does not depend on a text: a constant, an option, or a value computed from one. */
function isLimit(project, node, depth = 0) {
  if (isIdentifier(node)) return LIMIT.test(node.text) || isLimitVariable(project, node, depth);
  if (isPropertyAccessExpression(node)) return LIMIT.test(node.name.text);
  // Any call except one of Math searches in a text.
  if (isCallExpression(node))
    return isMath(node) && node.arguments.some((one) => isLimit(project, one, depth));
  let found = false;
  node.forEachChild((child) => {
    found ||= isLimit(project, child, depth);
  });
  return found;
}

function isMath({ expression }) {
  return isPropertyAccessExpression(expression) && expression.expression.text === "Math";
}

function isLimitVariable(project, node, depth) {
  const declaration = depth < DEPTH ? declarationOf(project, node) : undefined;
  if (declaration === undefined) return false;
  if (isParameterDeclaration(declaration)) return LIMIT_PARAMETER.test(node.text);
  const value = initialValueOf(declaration);
  return value !== undefined && (isLimit(project, value, depth + 1) || isLarge(value));
}

/** True for a hash or an encoding, whose characters are all ASCII. */
function isAscii(project, node, depth = 0) {
  if (isCallExpression(node)) {
    const isEncoded = isMethod(node, /^(?:toString|digest)$/) && ASCII_FORM.test(node.arguments[0]?.text);
    return isEncoded || HASH.test(node.expression.text);
  }
  const declaration = isIdentifier(node) && depth < DEPTH ? declarationOf(project, node) : undefined;
  const value = declaration && initialValueOf(declaration);
  return value !== undefined && isAscii(project, value, depth + 1);
}

function initialValueOf(declaration) {
  return isVariableDeclaration(declaration) ? declaration.initializer : undefined;
}

function declarationOf(project, node) {
  return project.checker.getSymbolAtLocation(node)?.valueDeclaration?.resolve(project);
}

function shown(file, node) {
  const text = file.text.slice(node.getStart(file), node.end).replace(/\s+/g, " ");
  return text.length <= 80 ? text : `…${text.slice(-79)}`;
}
