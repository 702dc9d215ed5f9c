import * as z from "zod/mini";
import { PERMISSION_MODES } from "../schema/permission-modes.ts";
import { isKeyName } from "../tmux/key-names.ts";

/** How `teams` reaches a third-party CLI. */
const CHANNELS = ["acp", "app-server", "files", "hooks", "http", "inbox", "keys"] as const;
export type ChannelKind = (typeof CHANNELS)[number];

/** Whether a CLI shows its own screen in the pane; otherwise `teams` shows what it does. */
export function hasOwnScreen(kind: ChannelKind): boolean {
  return kind !== "acp";
}

/** Whether a CLI reads its inbox and writes its messages itself; `teams` only starts and watches it. */
export function hasOwnInbox(kind: ChannelKind): boolean {
  return kind === "inbox";
}

/**
 * Whether messages are typed into a CLI. `teams` then sees its turn ends, requests and costs only as far as a bell or a notification
 * reports them.
 */
export function isTyped(kind: ChannelKind): boolean {
  return kind === "keys";
}

/** Whether keys wake a waiting CLI. That needs a pane that `teams` made, so such a CLI cannot lead in the user's terminal. */
export function isWokenByKeys(kind: ChannelKind): boolean {
  return kind === "hooks";
}

/** Whether a CLI can run in the sandbox of `teams`. */
export function runsInSandbox(kind: ChannelKind): boolean {
  return !["app-server", "files", "hooks", "inbox"].includes(kind);
}

const describe = z.describe;
const text = z.string().check(z.minLength(1));
const words = z.array(z.string());
const place = z
  .string()
  .check(z.regex(/^(?:~\/|\/|\$\w+(?:\/|$))/, "must begin with ~/, / or a variable: $NAME/"));
const places = z.array(place);

/** Where a CLI stores its login, and how the user logs in. */
const login = z.strictObject({
  paths: z
    ._default(places, [])
    .check(
      describe(
        "Files and directories of the login; a sandbox makes them available. They begin with `~/`, `/` or `$NAME`",
      ),
    ),
  variables: z._default(words, []).check(describe("Variables that contain a key for it")),
  files: z
    ._default(places, [])
    .check(
      describe("Files that exist only after a login; they begin with `~/`, `/` or a variable: `$NAME/`"),
    ),
  hint: z.optional(text).check(describe("How the user logs in")),
});

/** A third-party CLI, as data. */
export const adapterSchema = z.strictObject({
  channel: z
    .enum(CHANNELS)
    .check(
      describe(
        "How teams reaches it. `acp` works with every CLI that speaks the Agent Client Protocol, and `keys` with every program. The others work with one CLI each: `app-server` Codex, `files` Qwen, `hooks` Gemini, `http` OpenCode, `inbox` Claude Code",
      ),
    ),
  command: text.check(
    z.regex(/^(?:\/|[^/]+$)/, "must be a name on the PATH, or an absolute path"),
    describe("Its program: a name on the PATH, or an absolute path"),
  ),
  args: z._default(words, []).check(describe("Arguments that precede all others")),
  env: z._default(z.record(z.string(), z.string()), {}).check(describe("Variables for it")),
  versionArgs: z._default(words, ["--version"]).check(describe("Arguments that print its version")),
  modelArgs: z
    .optional(words)
    .check(describe("Arguments that choose a model, with {model}; without them the channel sets it")),
  effortArgs: z
    .optional(words)
    .check(describe("Arguments that set the effort, with {effort}; not needed if the channel sets it")),
  efforts: z._default(words, []).check(describe("Its levels of effort; empty if it has no option for them")),
  reports: z
    ._default(z.array(z.enum(["tokens", "cost"])), [])
    .check(describe("The figures that it reports for each turn; budgets need them")),
  modes: z
    ._default(z.partialRecord(z.enum(PERMISSION_MODES), text), {})
    .check(
      describe("Its names for the permission modes; `default` is the mode in which it asks for everything"),
    ),
  firstMessageAfter: z
    ._default(z.enum(["session", "tools"]), "session")
    .check(describe("The event that its first message waits for: its session, or also the team's tools")),
  withoutTools: z
    .optional(text)
    .check(describe("The user's next step if it has not connected to the team's tools")),
  trustedEnv: z
    ._default(z.record(z.string(), z.string()), {})
    .check(describe("Variables for it in a directory that the user trusts with teams")),
  resume: z
    ._default(z.enum(["resume", "load", "none"]), "none")
    .check(describe("How it continues a conversation in a new process")),
  commandInTitle: z
    ._default(z.boolean(), false)
    .check(describe("Whether the title of a request to run a command is the whole command")),
  interruptKey: z
    ._default(text.check(z.refine(isKeyName, "is not the tmux name of a key")), "Escape")
    .check(describe("With the channel keys: the key that interrupts it, as tmux names it")),
  prompt: z
    .optional(text)
    .check(describe("With the channel keys: the text of its empty input line, if that is several words")),
  login: z.prefault(login, {}),
  hosts: z
    ._default(words, [])
    .check(describe("Hosts that it needs; a sandbox with a list of hosts allows them too")),
  install: z.optional(text).check(describe("Command that installs it")),
  node: z
    .optional(text.check(z.regex(/^>=\d+(?:\.\d+){0,2}$/, "must be a version such as >=20")))
    .check(describe("The Node.js version that it needs")),
  unsupported: z
    .optional(
      z.strictObject({
        versions: z
          .string()
          .check(
            z.regex(/^>=\d+(?:\.\d+){0,2}$/, "must be a version such as >=2"),
            describe("The first refused version: `>=2`"),
          ),
        why: text.check(describe("Why, as a sentence")),
      }),
    )
    .check(describe("Versions that are refused, because the channel does not know them")),
  tested: z._default(words, []).check(describe("Versions that were tested")),
  notes: z._default(words, []).check(describe("How it differs from teams' own agents")),
});

/** A third-party CLI; `id` is its name in `--cli`. */
export type Adapter = z.infer<typeof adapterSchema> & { readonly id: string };
/** An adapter as a person writes it. */
export type AdapterInput = z.input<typeof adapterSchema>;
