import type { Token } from "markdown-it";
import type { Attribute, Style } from "../style.ts";
import { TONE } from "../style.ts";
import { cleanText } from "./clean-text.ts";
import { linkTarget, looksLikeAddress, showsAddress, splitAtAddresses } from "./links.ts";
import type { Span } from "./spans.ts";

/**
 * A line of at least this many characters was wrapped by its author: its end becomes a space. A shorter one ends where the author
 * wanted it to end, as in a list of names without bullets.
 */
const WRAPPED_LINE = 55;
const BREAK_TAG = /<br ?\/?>/i;
const STYLES: Readonly<Record<string, Attribute>> = { strong: "bold", em: "italic", s: "strike" };

/**
 * Returns the spans of text, emphasis, code and links; hard breaks are newlines.
 * @param base the styles of the block
 * @param links whether the terminal can link text; else its address follows it
 */
export function inlineSpans(
  tokens: readonly Token[],
  base: readonly Style[],
  links: boolean,
): readonly Span[] {
  const spans = new InlineSpans(base, links);
  for (const token of tokens) addToken(token, spans);
  return spans.spans;
}

function addToken(token: Token, spans: InlineSpans): void {
  const style = STYLES[token.tag];
  if (token.type === "code_inline") spans.add(cleanText(token.content), [TONE.code]);
  else if (token.type === "hardbreak") spans.addBreak();
  else if (token.type === "softbreak") spans.endLine();
  else if (token.type === "image") {
    spans.openLink(token.attrGet("src"));
    spans.add(cleanText(token.content).trim(), ["underline"]);
    spans.closeLink();
  } else if (token.type === "link_open") {
    spans.openLink(token.attrGet("href"));
    spans.change("underline", 1);
  } else if (token.type === "link_close") {
    spans.change("underline", -1);
    spans.closeLink();
  } else if (token.nesting === 0) spans.addText(token.content);
  else if (style !== undefined) spans.change(style, token.nesting);
}

class InlineSpans {
  readonly spans: Span[] = [];
  readonly #base: readonly Style[];
  readonly #links: boolean;
  readonly #counts = new Map<Attribute, number>();
  /** Addresses of the open link and the images in it, with the number of spans before each. */
  readonly #open: { readonly address: string; readonly first: number }[] = [];
  #styles: readonly Style[];
  #lineLength = 0;

  constructor(base: readonly Style[], links: boolean) {
    this.#base = base;
    this.#styles = base;
    this.#links = links;
  }

  change(style: Attribute, by: number): void {
    this.#counts.set(style, (this.#counts.get(style) ?? 0) + by);
    const set = [...this.#counts].filter(([, count]) => count > 0).map(([name]) => name);
    this.#styles = [...this.#base, ...set];
  }

  add(text: string, more: readonly Style[] = []): void {
    this.#lineLength += text.length;
    const styles = more.length === 0 ? this.#styles : [...this.#styles, ...more];
    if (text !== "") this.spans.push({ text, styles });
  }

  addText(text: string): void {
    const isLinked = this.#links && this.#open.length === 0;
    for (const [i, line] of text.split(BREAK_TAG).entries()) {
      if (i > 0) this.addBreak();
      const parts = isLinked ? splitAtAddresses(line) : [line];
      for (const [k, part] of parts.entries()) {
        const clean = cleanText(part).replace(/ {2,}/g, " ");
        if (k % 2 === 0) this.add(clean);
        else this.#linked(linkTarget(part), () => this.add(clean, ["underline"]));
      }
    }
  }

  addBreak(): void {
    this.spans.push({ text: "\n", styles: this.#base });
    this.#lineLength = 0;
  }

  /** Adds the end of a line of the source. */
  endLine(): void {
    if (this.#lineLength < WRAPPED_LINE) this.addBreak();
    else this.add(" ");
    this.#lineLength = 0;
  }

  openLink(address: string | number | null): void {
    this.#open.push({ address: String(address ?? ""), first: this.spans.length });
  }

  closeLink(): void {
    const link = this.#open.pop();
    // The address of the link is more important than that of an image in it.
    if (link === undefined || this.#open.length > 0) return;
    const { address, first } = link;
    const target = this.#links ? linkTarget(address) : undefined;
    const texts = this.spans.slice(first).map(({ text }) => text);
    const text = texts.join("").trim();
    const isClear = target !== undefined && text !== "" && !looksLikeAddress(text);
    this.#setTarget(first, target);
    if (isClear || showsAddress(text, address)) return;
    const shown = text === "" ? cleanText(address) : ` (${cleanText(address)})`;
    this.#linked(text === "" ? target : undefined, () => this.add(shown, [TONE.quiet]));
  }

  #linked(target: string | undefined, add: () => void): void {
    const first = this.spans.length;
    add();
    this.#setTarget(first, target);
  }

  #setTarget(first: number, href: string | undefined): void {
    if (href === undefined) return;
    for (const [i, span] of this.spans.slice(first).entries()) this.spans[first + i] = { ...span, href };
  }
}
