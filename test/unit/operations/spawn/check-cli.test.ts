import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import type { AdapterInput } from "../../../../src/adapter/adapter-schema.ts";
import { BUILT_IN_ADAPTERS } from "../../../../src/adapter/built-in-adapters.ts";
import { TeamError } from "../../../../src/errors.ts";
import { checkCli } from "../../../../src/operations/spawn/check-cli.ts";
import type { SpawnInput } from "../../../../src/operations/spawn/draft-member.ts";

type Input = Omit<SpawnInput, "name">;

/** Returns why an option is refused; undefined if it is accepted. */
function refusal(adapter: Partial<AdapterInput>, input: Input): string | undefined {
  // A program that every machine has.
  const own = { it: { channel: "acp", ...adapter, command: "/bin/sh" } } as const;
  try {
    checkCli("it", input, own, {});
    return undefined;
  } catch (error) {
    if (error instanceof TeamError) return `${error.code} ${error.message}`;
    throw error;
  }
}

const ABLE: Partial<AdapterInput> = {
  modelArgs: ["-m", "{model}"],
  effortArgs: ["-e", "{effort}"],
  efforts: ["low", "high"],
  modes: { default: "ask", plan: "plan" },
  reports: ["tokens", "cost"],
};

it.each<[Input, RegExp]>([
  [{ tools: ["Read"] }, /with --tools: it has its own tools/],
  [{ writes: ["src/**"] }, /with writes: teams limits only the writes of its own agents/],
  [{ promptOverrides: { override: "x" } }, /with --system-prompt: it has its own/],
  [{ model: "scripted:book.json" }, /it cannot play playbooks/],
  [{ model: "--yolo" }, /with --model --yolo: that is not the name of a model/],
  [{ model: "a\nb" }, /that is not the name of a model/],
  [{ effort: "extreme" }, /with --effort extreme: it supports low, high/],
])("checkCli › refuses for every CLI: %j", (input, why) => {
  expect(refusal(ABLE, input)).toMatch(/^INVALID_INPUT it cannot be started .*; nothing was started\.$/s);
  expect(refusal(ABLE, input)).toMatch(why);
});

it.each<[Input, RegExp]>([
  [{ model: "big" }, /with --model big: it has no option for the model/],
  [{ effort: "high" }, /with --effort high: it has no option for the effort/],
  [{ plan: true }, /it has no plan mode/],
  [{ budget: { maxTokens: 5 } }, /with --max-tokens: it does not report its tokens/],
  [{ budget: { maxCostUsd: 5 } }, /with --max-cost: it does not report its cost/],
])("checkCli › accepts an option that the adapter has, and refuses it without: %j", (input, why) => {
  expect(refusal(ABLE, input)).toBeUndefined();
  expect(refusal({}, input)).toMatch(why);
});

it.each(Object.entries(BUILT_IN_ADAPTERS))(
  "checkCli › refuses a required sandbox for %s if it does not run in one",
  (id, adapter) => {
    const isInside = id === "opencode" || id === "gemini" || id === "goose" || id.endsWith("-acp");
    const why = "with --sandbox required: it does not run in a sandbox that teams provides";
    if (isInside) expect(refusal(adapter, { sandbox: "required" })).toBeUndefined();
    else expect(refusal(adapter, { sandbox: "required" })).toContain(why);
    expect(refusal(adapter, { sandbox: "auto" })).toBeUndefined();
  },
);

it.each(Object.entries(BUILT_IN_ADAPTERS))(
  "the adapter %s › names the mode in which its CLI asks, because a mode is always passed",
  (_, { modes }) => {
    expect(modes?.default).toEqual(expect.stringMatching(/\w/));
  },
);

it("checkCli › accepts for every CLI the options that teams applies itself", () => {
  const input: Input = {
    permissionMode: "acceptEdits",
    allowedTools: ["Bash(git:*)"],
    disallowedTools: ["Edit"],
    worktree: {},
    cwd: "/",
    promptOverrides: { append: "x" },
  };
  for (const adapter of Object.values(BUILT_IN_ADAPTERS)) expect(refusal(adapter, input)).toBeUndefined();
});

it("docs/mixed-company.md › lists the options of each CLI in its table", () => {
  const docs = readFileSync(
    fileURLToPath(new URL("../../../../docs/mixed-company.md", import.meta.url)),
    "utf8",
  );
  const [, rest = ""] = docs.split("| `--cli` | `--model` |");
  const [table = ""] = rest.split("\n\n");
  const rows = [...table.matchAll(/^\| `([\w-]+)` \|(.*)\|$/gm)].map(([, id = "", cells = ""]) => ({
    id,
    cells: cells.split("|").map((cell) => cell.trim()),
  }));
  expect(rows.map(({ id }) => id).sort()).toEqual(Object.keys(BUILT_IN_ADAPTERS).sort());
  for (const { id, cells } of rows) {
    const adapter = BUILT_IN_ADAPTERS[id];
    if (adapter === undefined) throw new Error(`The table has an unknown CLI: ${id}`);
    const effort = adapter.efforts?.[0];
    const has = (input: Input): string => (refusal(adapter, input) === undefined ? "yes" : "no");
    expect([id, ...cells]).toEqual([
      id,
      has({ model: "big" }),
      has({ effort: effort ?? "high" }) === "yes" ? (adapter.efforts ?? []).join(", ") : "no",
      has({ plan: true }),
      has({ budget: { maxTokens: 1 } }),
      has({ budget: { maxCostUsd: 1 } }),
    ]);
  }
});
