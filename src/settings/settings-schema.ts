import * as z from "zod/mini";
import { hooksSetting } from "../agent/hooks/settings.ts";
import { permissionMode } from "../schema/config.ts";

/** What a key is for, for whoever prints the schema. */
const describe = z.describe;

const rules = z._default(z.array(z.string()), []);

const permissions = z.looseObject({
  allow: rules.check(describe("Calls that run without asking, by rule: Bash(git:*)")),
  ask: rules.check(describe("Calls that ask whatever allows them; from an untrusted project too")),
  deny: rules.check(describe("Calls that never run, in any mode; from an untrusted project too")),
  additionalDirectories: rules.check(describe("Directories that agents may work in besides their own")),
  // One that only a newer peer knows is no mode.
  defaultMode: z
    .catch(z.optional(permissionMode), undefined)
    .check(describe("Mode of a lead, and of a team made by command; without it, default")),
  disableBypassPermissionsMode: z
    .optional(z.string())
    .check(describe('"disable" forbids bypassPermissions mode')),
});

const dollars = z.optional(z.number().check(z.minimum(0)));
const price = z.looseObject({
  input: dollars,
  output: dollars,
  cacheRead: dollars.check(describe("Without it, a tenth of the input's price")),
  cacheWrite: dollars.check(describe("Without it, five quarters of the input's price")),
  window: z
    .optional(z.int().check(z.minimum(1_000)))
    .check(describe("What the model reads at once, in tokens")),
});

const nonEmptyText = z.string().check(z.minLength(1));

const teamsSettings = z.looseObject({
  worktreeDir: z
    .optional(nonEmptyText)
    .check(describe("Where worktrees of teammates go, relative to the repository; without it, .worktrees")),
  worktreeSetup: z
    .optional(nonEmptyText)
    .check(describe("Shell command that is run in each new worktree before its teammate starts")),
  hooks: z.prefault(
    z.looseObject({
      maxContinuations: z
        ._default(z.int().check(z.minimum(0)), 5)
        .check(describe("Times in a row that hooks may send an agent back to work")),
    }),
    {},
  ),
  prices: z
    ._default(z.record(z.string(), price), {})
    .check(
      describe("By a model's id or short name, before what is built in: US dollars for a million tokens"),
    ),
  models: z._default(z.record(z.string(), z.string()), {}).check(describe("Short names of models")),
  notify: z
    .optional(z.union([nonEmptyText, z.array(nonEmptyText).check(z.minLength(1))]))
    .check(
      describe(
        "Program that runs when something waits for you: a shell command, or a list of words that no shell reads",
      ),
    ),
  stuckAfter: z
    ._default(z.number().check(z.positive()), 600)
    .check(describe("Seconds without a sign of life after which a running agent is shown as stuck")),
  record: z
    ._default(z.boolean(), false)
    .check(describe("Whether panes are recorded; not done by this version")),
  adapters: z
    ._default(z.record(z.string(), z.looseObject({})), {})
    .check(describe("Other programs as agents, by name; not started by this version")),
  minPane: z.prefault(
    z.looseObject({
      columns: z
        ._default(z.int().check(z.minimum(20)), 40)
        .check(describe("Least width of a teammate's pane")),
      rows: z._default(z.int().check(z.minimum(5)), 10).check(describe("Least height of a teammate's pane")),
    }),
    {},
  ),
  passSecrets: z
    ._default(z.array(z.string()), [])
    .check(describe("Variables with the model's keys that agents' commands get anyway")),
});

/** `settings.json` as far as it concerns us; what others keep in it is left alone. */
export const settingsSchema = z.looseObject({
  teammateMode: z
    ._default(z.enum(["auto", "tmux", "in-process", "iterm2", "process"]), "auto")
    .check(describe("Where teammates live")),
  permissions: z.prefault(permissions, {}),
  hooks: z.prefault(hooksSetting, {}).check(describe("Commands that are run at certain moments")),
  env: z._default(z.record(z.string(), z.coerce.string()), {}).check(describe("Variables for every agent")),
  // Each server is looked at when it is started: one that is wrong takes no other with it.
  mcpServers: z
    ._default(z.record(z.string(), z.unknown()), {})
    .check(describe("Servers of tools, by name, as in .mcp.json")),
  teams: z.prefault(teamsSettings, {}).check(describe("What only teams knows")),
});
export type Settings = z.infer<typeof settingsSchema>;

/** JSON Schema of the settings file, with what each key is for and its default. */
export function settingsJsonSchema(): object {
  return z.toJSONSchema(settingsSchema, { io: "input" });
}
