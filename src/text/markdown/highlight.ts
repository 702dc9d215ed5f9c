import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import lua from "highlight.js/lib/languages/lua";
import makefile from "highlight.js/lib/languages/makefile";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import scss from "highlight.js/lib/languages/scss";
import shell from "highlight.js/lib/languages/shell";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { type Style, TONE } from "../style.ts";
import type { Span } from "./spans.ts";

// biome-ignore format: a list of names
const LANGUAGES = {
  bash, c, cpp, csharp, css, diff, dockerfile, go, ini, java, javascript, json, kotlin, lua, makefile, php, python, ruby, rust,
  scss, shell, sql, swift, typescript, xml, yaml,
};

/** Colours of the parts of program code. Comments and changes have the colours that they have in other texts. */
export const SYNTAX = {
  keyword: 134,
  string: 64,
  number: 166,
  name: 33,
  type: 31,
} as const;

/** Longer code needs several calls: some patterns of highlight.js take quadratic time. */
export const MAX_CODE = 3000;
/** The same holds for a line or a word; these are not program code. */
const TOO_LONG = /[^\n]{241}|\w{81}/;

/** The style of each class of highlight.js; any other class has the terminal's own. */
const STYLES: Readonly<Record<string, readonly Style[]>> = {
  keyword: [SYNTAX.keyword],
  "selector-tag": [SYNTAX.keyword],
  literal: [SYNTAX.number],
  number: [SYNTAX.number],
  symbol: [SYNTAX.number],
  bullet: [SYNTAX.number],
  string: [SYNTAX.string],
  regexp: [SYNTAX.string],
  title: [SYNTAX.name],
  name: [SYNTAX.name],
  section: [SYNTAX.name, "bold"],
  "selector-class": [SYNTAX.name],
  "selector-id": [SYNTAX.name],
  type: [SYNTAX.type],
  built_in: [SYNTAX.type],
  attr: [SYNTAX.type],
  attribute: [SYNTAX.type],
  property: [SYNTAX.type],
  variable: [SYNTAX.type],
  "template-variable": [SYNTAX.type],
  comment: [TONE.quiet],
  quote: [TONE.quiet],
  meta: [TONE.quiet],
  addition: [TONE.added],
  deletion: [TONE.removed],
};
const NONE: readonly Style[] = [];
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };

let isReady = false;

/**
 * Returns code in the colours of its language.
 * @param language as after the fence: a name, an alias or a file extension
 * @returns undefined if the language is unknown, or the code is too long
 */
export function highlighted(code: string, language: string): readonly Span[] | undefined {
  if (code.length > MAX_CODE || TOO_LONG.test(code)) return undefined;
  if (!isReady)
    for (const [name, definition] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, definition);
  isReady = true;
  if (hljs.getLanguage(language) === undefined) return undefined;
  return spansOf(hljs.highlight(code, { language, ignoreIllegals: true }).value);
}

/** Reads the output of highlight.js: text with five entities, in nested `<span class="hljs-…">`. */
function spansOf(html: string): Span[] {
  const spans: Span[] = [];
  const open: (readonly Style[])[] = [NONE];
  for (const [, name, text] of html.matchAll(/<span class="(?:hljs-)?([\w-]+)[^"]*">|<\/span>|([^<]+)/g)) {
    const styles = open.at(-1) ?? NONE;
    if (text !== undefined) {
      const plain = text.replace(/&(amp|lt|gt|quot|#x27);/g, (_, entity: string) => ENTITIES[entity] ?? "");
      spans.push({ text: plain, styles });
    } else if (name === undefined) open.pop();
    // An expression in a template string does not have the style of the string.
    else
      open.push(
        name === "subst" ? NONE : ((Object.hasOwn(STYLES, name) ? STYLES[name] : undefined) ?? styles),
      );
  }
  return spans;
}
