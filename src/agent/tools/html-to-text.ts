import type { HtmlToTextOptions } from "html-to-text";
import { timeLimit } from "../../os/time-limit.ts";

/** Milliseconds that one page may take; an honest one of the longest that are read takes a third, a hostile one for ever. */
const CONVERT_MS = 3_000;
/** Elements inside of each other that are followed: deeper ones would exhaust the stack. */
const MAX_DEPTH = 250;

/**
 * The text of an HTML page as a model reads it best: headings, lists, tables, code and where links lead, without pictures,
 * scripts and styles. The library is loaded at the first page.
 * @param base what links in it are relative to
 * @throws Error when the page takes too long, or is built so deep that it cannot be read
 */
export async function pageText(html: string, base: URL): Promise<string> {
  const { convert } = await import("html-to-text");
  return timeLimit(CONVERT_MS)(() => convert(html, optionsFor(base))).trim();
}

function optionsFor(base: URL): HtmlToTextOptions {
  return {
    wordwrap: false,
    limits: { maxDepth: MAX_DEPTH },
    formatters: {
      heading(elem, walk, builder) {
        builder.openBlock({ leadingLineBreaks: 2 });
        builder.addInline(`${"#".repeat(Number(elem.name?.slice(1)) || 1)} `);
        walk(elem.children, builder);
        builder.closeBlock({ trailingLineBreaks: 2 });
      },
      cell(elem, walk, builder) {
        builder.addInline(" | ");
        walk(elem.children, builder);
      },
      code(elem, walk, builder) {
        const mark = elem.parent?.name === "pre" ? "" : "`";
        builder.addLiteral(mark);
        walk(elem.children, builder);
        builder.addLiteral(mark);
      },
      fence(elem, walk, builder) {
        builder.openBlock({ isPre: true, leadingLineBreaks: 2 });
        builder.addLiteral("```\n");
        walk(elem.children, builder);
        builder.addLiteral("\n```");
        builder.closeBlock({ trailingLineBreaks: 2 });
      },
    },
    selectors: [
      ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, format: "heading" })),
      { selector: "pre", format: "fence" },
      { selector: "code", format: "code" },
      ...["img", "svg", "template"].map((selector) => ({ selector, format: "skip" })),
      {
        selector: "a",
        options: {
          pathRewrite: (path: string) => (URL.canParse(path, base.href) ? new URL(path, base).href : path),
          hideLinkHrefIfSameAsText: true,
          noAnchorUrl: true,
          linkBrackets: ["(", ")"],
        },
      },
      // The library's own tables make as many cells as a page says that one of its spans.
      { selector: "table", format: "block", options: { leadingLineBreaks: 2, trailingLineBreaks: 2 } },
      { selector: "tr", format: "block", options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
      { selector: "td", format: "cell" },
      { selector: "th", format: "cell" },
    ],
  };
}
