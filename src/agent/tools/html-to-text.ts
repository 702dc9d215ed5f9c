import type { HtmlToTextOptions } from "html-to-text";
import { timeLimit } from "../../os/time-limit.ts";
import { parsedUrl } from "../../text/parsed-url.ts";

/** Time limit in milliseconds for one page: the longest ordinary page takes a third of it, a hostile one forever. */
const CONVERT_MS = 3_000;
/** Maximum nesting of elements: deeper pages would exhaust the stack. */
const MAX_DEPTH = 250;

/**
 * Converts an HTML page to text for a model, with headings, lists, tables, code and link targets, but without images,
 * scripts and styles. The library is loaded for the first page.
 * @param base the base URL of relative links
 * @throws Error if the page takes too long or is nested too deep
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
          pathRewrite: (path: string) => parsedUrl(path, base)?.href ?? path,
          hideLinkHrefIfSameAsText: true,
          noAnchorUrl: true,
          linkBrackets: ["(", ")"],
        },
      },
      // The library's own tables create as many cells as a page claims in a colspan.
      { selector: "table", format: "block", options: { leadingLineBreaks: 2, trailingLineBreaks: 2 } },
      { selector: "tr", format: "block", options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
      { selector: "td", format: "cell" },
      { selector: "th", format: "cell" },
    ],
  };
}
