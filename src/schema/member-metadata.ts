import * as z from "zod/mini";
import { budgetLimits, spentAmount } from "./budget.ts";
import { permissionMode, type TeamMember } from "./config.ts";
import { type Ending, ending } from "./ending.ts";
import { FORMER_NAMES_KEY, SESSION_KEY, SESSION_PATTERN } from "./names.ts";
import { SANDBOX_MODES } from "./permission-modes.ts";
import { processIdentity, tmuxServerRecord } from "./process-identity.ts";
import { startClaim } from "./start-claim.ts";
import { type WorktreeRecord, worktreeRecord } from "./worktree.ts";

/** Parts of a member's system prompt that the caller of `spawn` set; a restart uses them again. */
const promptOverrides = z.object({
  /** Replaces the prompt of the type and the default one. */
  override: z.optional(z.string()),
  /** Added at the end. */
  append: z.optional(z.string()),
});
export type PromptOverrides = z.infer<typeof promptOverrides>;

const killClaim = z.object({ by: processIdentity, at: z.number() });

/** A program that a person started in a pane, and that became a member: where it runs, and how it is reached. */
const adoptedProgram = z.object({
  process: processIdentity,
  /** The name of its command, for people. */
  program: z.string(),
  /** The device of its terminal. */
  tty: z.string(),
  pane: z.object({
    paneId: z.string(),
    server: tmuxServerRecord,
    panePid: z.number(),
    paneProcStart: z.string(),
  }),
  /** Codex: its thread, to which `codex queue` delivers, and its `CODEX_HOME`. */
  thread: z.optional(z.object({ id: z.string(), home: z.optional(z.string()) })),
});
export type AdoptedProgram = z.infer<typeof adoptedProgram>;

/** Broken entries are left out. */
const strings = z.pipe(
  z.array(z.unknown()),
  z.transform((all) => all.filter((one): one is string => typeof one === "string")),
);
const endings = z.pipe(
  z.array(z.unknown()),
  z.transform((all) =>
    all.flatMap((one): Ending[] => {
      const parsed = ending.safeParse(one);
      return parsed.success ? [parsed.data] : [];
    }),
  ),
);

/**
 * The keys that `teams` adds to the `metadata` of a member or a team, by our name: the key in the file and the schema of
 * its value. Keys of other programs stay as they are.
 */
const KEYS = {
  /** Member: a start is under way, or was interrupted. */
  startClaim: ["_restart", startClaim],
  /** Member: a process is killing it, since `at` in milliseconds since the epoch. */
  killClaim: ["_kill", killClaim],
  /** Member: the session id of its conversation, chosen before its process starts. */
  session: [SESSION_KEY, z.string().check(z.regex(new RegExp(`^${SESSION_PATTERN}$`)))],
  /** Member: it stays in the team when it exits (`down`). */
  keepOnExit: ["_stays", z.literal(true)],
  /** Member: ids of the tasks that it owned when it ended. */
  tasksToRestore: ["_held", strings],
  /** Member: id of the end that was reported last. */
  lastReportedEnd: ["_endNoticed", z.string()],
  /** Member: the permission mode that it received while it worked. */
  grantedMode: ["_mode", permissionMode],
  /** Member: its permission mode before it went into plan or delegate mode. */
  modeBefore: ["_modeBefore", permissionMode],
  /** Member: its worktree. */
  worktree: ["_worktree", worktreeRecord],
  /** Member: the only tools that it has. */
  tools: ["_tools", z.array(z.string())],
  /** Member: patterns of the only files that it may write. */
  writes: ["_writes", z.array(z.string())],
  /** Member: whether its commands run in the sandbox, as a person or its type set it. */
  sandbox: ["_sandbox", z.enum(SANDBOX_MODES)],
  /** Member: the third-party CLI that runs instead of our agent, by the name of its adapter. */
  cli: ["_cli", z.string().check(z.minLength(1))],
  /** Member: the effort of that CLI's model. */
  effort: ["_effort", z.string().check(z.minLength(1))],
  /** Member: that CLI's screen is its pane. */
  ownScreen: ["_ownScreen", z.literal(true)],
  /** Member: that CLI reads its inbox and writes its messages itself. */
  ownInbox: ["_ownInbox", z.literal(true)],
  /** Member: its messages are typed into the pane of its program, whose turns and requests are unseen. */
  typed: ["_typed", z.literal(true)],
  /** Member: the program that a person started, and that became it. */
  adopted: ["_adopted", adoptedProgram],
  /** Member: that CLI's own id of its conversation. */
  conversation: ["_conversation", z.string().check(z.minLength(1))],
  /** Member: additions to its system prompt. */
  promptOverrides: ["_systemPrompt", promptOverrides],
  /** Member: where its agent type was found, if it works in another directory. */
  typesDirectory: ["_types", z.string()],
  /** Member or team: the directory in which screens are recorded. */
  recording: ["_rec", z.string().check(z.minLength(1))],
  /** Member or team: limits of tokens and cost. */
  budget: ["_budget", budgetLimits],
  /** Team: the spending of members that have left it. */
  spentByFormer: ["_spent", spentAmount],
  /** Team: endings that are not processed yet. */
  endings: ["_endings", endings],
  /** Team: a person led it before a run did. */
  ledByPerson: ["_byHand", z.literal(true)],
  /** Team: the names of directories that it had before, which still name it. */
  formerNames: [FORMER_NAMES_KEY, strings],
  /** Team: the session of the lead that a person replaced. */
  formerLeadSession: ["_leadSession", z.string()],
  /** Team: the spending in that session, until a lead continues it and records the spending itself. */
  formerLeadSpent: ["_leadSpent", spentAmount],
} as const;

type Key = keyof typeof KEYS;
type Value<K extends Key> = z.infer<(typeof KEYS)[K][1]>;
type Metadata = Readonly<Record<string, unknown>> | undefined;
/** `undefined` removes the key. */
export type MetadataChange = { readonly [K in Key]?: Value<K> | undefined };

interface Holder {
  readonly metadata?: Metadata;
}

/** Returns the value of one of our keys; undefined if it is missing or does not parse. */
export function readMetadata<K extends Key>({ metadata }: Holder, key: K): Value<K> | undefined {
  const [name, schema] = KEYS[key];
  return schema.safeParse(metadata?.[name]).data as Value<K> | undefined;
}

/** True if the key is there, whether its value parses or not. */
export function hasMetadata({ metadata }: Holder, key: Key): boolean {
  return metadata?.[KEYS[key][0]] !== undefined;
}

/** Returns metadata with some of our keys changed; undefined if nothing is left. */
export function changedMetadata(
  metadata: Metadata,
  change: MetadataChange,
): Record<string, unknown> | undefined {
  const ours = Object.entries(change).map(([key, value]) => [KEYS[key as Key][0], value]);
  const kept = Object.entries({ ...metadata, ...Object.fromEntries(ours) }).filter(
    ([, value]) => value !== undefined,
  );
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** Returns a member or a team with some of our keys changed; empty metadata is removed. */
export function withMetadata<T extends Holder>(holder: T, change: MetadataChange): T {
  const { metadata, ...rest } = holder;
  const changed = changedMetadata(metadata, change);
  return (changed === undefined ? rest : { ...holder, metadata: changed }) as T;
}

/** Returns the worktree that was created for a member; undefined if it has none, or another program named one. */
export function worktreeOf(
  member: Holder & { readonly worktreePath?: string | undefined },
): WorktreeRecord | undefined {
  const worktree = readMetadata(member, "worktree");
  return worktree?.path === member.worktreePath ? worktree : undefined;
}

/** Returns the directory whose agent types apply to a member, and in which such a type keeps a project's notes. */
export function typesDirectory(member: Pick<TeamMember, "metadata">, cwd: string): string {
  return readMetadata(member, "typesDirectory") ?? cwd;
}
