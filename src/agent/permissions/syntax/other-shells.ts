/** An escaped character, or quoted text. */
const QUOTED = /\\([\s\S])|'([^']*)'|"(?:[^"\\]|\\[\s\S])*"/g;
/** Letters and digits after a backslash that fish reads as another character: `\x2d`, `\n`. */
const FISH_ESCAPE = /[abcefnrtvxXuUo0-7]/;

/** Characters that separate words in fish and are part of a word in other shells: `a\r--b`, `\u2003--b`. */
const FISH_BLANK = /[^\S \t\n]|\u0085/;

/** Returns whether fish gives a word another value: it has more escapes and separators, and a backslash escapes a single quote. */
export function isOtherInFish(text: string): boolean {
  if (FISH_BLANK.test(text) && FISH_BLANK.test(text.replace(QUOTED, ""))) return true;
  for (const [, escaped, single = ""] of text.matchAll(QUOTED)) {
    if (escaped !== undefined && FISH_ESCAPE.test(escaped)) return true;
    if (/(?:^|[^\\])(?:\\\\)*\\$/.test(single)) return true;
  }
  return false;
}

const CODE = /\\(?:[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3}))/g;

/** Returns a line with the escapes of fish decoded; undefined if it has none. */
export function decodedForFish(line: string): string | undefined {
  const decoded = line.replace(
    CODE,
    (whole, byte?: string, short?: string, long?: string, octal?: string) => {
      const code =
        octal === undefined ? Number.parseInt(byte ?? short ?? long ?? "", 16) : Number.parseInt(octal, 8);
      return code > 0 && code < 0x11_0000 ? String.fromCodePoint(code) : whole;
    },
  );
  return decoded === line ? undefined : decoded;
}

/** Syntax that the grammar of bash reads differently from another shell: `>! file`, `>?file`, `${(f)"$(<file)"}`, `$mapfile[file]`. */
export const READ_OTHERWISE = />>?[&|]?[!?]|<\?|\$\{\(|\$\w+\[/;

/** Shell options that do not change how a shell reads patterns and words. */
const HARMLESS_OPTION =
  /^(?:no_?)?(?:errexit|err_exit|pipe_?fail|no_?unset|unset|xtrace|verbose|nomatch|null_?glob|sh_?word_?split|monitor)$/i;

/** Returns why a command makes a shell read later commands differently, as a clause; undefined if it does not. */
export function changesReading([name = "", ...rest]: readonly string[]): string | undefined {
  if (name === "zmodload") return "it loads a module of the shell";
  const sets = /^(?:setopt|unsetopt|emulate)$/.test(name) && rest.length > 0;
  return sets && !rest.every((word) => HARMLESS_OPTION.test(word))
    ? "it changes how the shell reads words"
    : undefined;
}
