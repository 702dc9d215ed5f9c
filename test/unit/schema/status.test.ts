import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { AGENT_STATES } from "../../../src/schema/status.ts";

test("AGENT_STATES › are the states of the table in docs/leading-by-hand.md", () => {
  const page = readFileSync(new URL("../../../docs/leading-by-hand.md", import.meta.url), "utf8");
  const [, rows = ""] = /\| state \| the member \|\n\| --- \| --- \|\n((?:\|.*\n)+)/.exec(page) ?? [];
  const cells = [...rows.matchAll(/^\|([^|]*)\|/gm)].map(([, cell]) => cell).join(" ");
  expect(cells.match(/[a-z][\w-]*/g)).toEqual(AGENT_STATES);
});
