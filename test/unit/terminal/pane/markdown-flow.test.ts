import { expect, test } from "vitest";
import { markdownFlow } from "../../../../src/terminal/pane/markdown-flow.ts";
import { styler } from "../../../../src/text/style.ts";

test("markdownFlow › isInBlock is true within long code and between list items, and false between paragraphs", () => {
  const shown: string[] = [];
  const options = () => ({ width: 40, style: styler(true) });
  const flow = markdownFlow({ options, show: (rows) => shown.push(...rows) });
  flow.push("\n\na\n\nb");
  expect({ shown: [...shown], isInBlock: flow.isInBlock }).toEqual({ shown: ["a"], isInBlock: false });
  // The second part begins with an empty line of code.
  flow.push(`\n\`\`\`\n${"x\n".repeat(20)}\n`);
  expect({ rows: shown.length, isInBlock: flow.isInBlock }).toEqual({ rows: 23, isInBlock: true });
  flow.push("y\n```\n- c\n- d\n");
  expect({ rows: shown.slice(23), isInBlock: flow.isInBlock }).toEqual({
    rows: ["", "  y", "• c"],
    isInBlock: true,
  });
  flow.end();
  expect({ last: shown.at(-1), isInBlock: flow.isInBlock }).toEqual({ last: "• d", isInBlock: false });
});
