import * as z from "zod/mini";

/** The events that can have hooks (protocol.md section 7). */
export const HOOK_EVENTS = [
  "SessionStart",
  "TeammateIdle",
  "TaskCreated",
  "TaskCompleted",
  "SubagentStart",
  "SubagentStop",
  "Stop",
  "PreToolUse",
  "PostToolUse",
] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** Default timeout of a hook in seconds. */
const DEFAULT_TIMEOUT = 60;

/** Why a session starts: an agent starts, its process starts again, or its conversation was cleared or compacted. */
export type SessionSource = "startup" | "resume" | "clear" | "compact";

const group = z.looseObject({
  /** A name, several names separated by `|`, or a regular expression. Without it, the hooks match everything. */
  matcher: z.optional(z.string()),
  hooks: z.array(
    z.looseObject({
      /** Only `command` is run. Other types are for other programs. */
      type: z.string(),
      command: z.optional(z.string()),
      /** Seconds. */
      timeout: z.optional(z.number().check(z.positive())),
    }),
  ),
});

/** The key `hooks` of settings. Unknown events belong to other programs and are not checked. */
export const hooksSetting = z.looseObject(
  Object.fromEntries(HOOK_EVENTS.map((event) => [event, z.optional(z.array(group))])) as Record<
    HookEvent,
    z.ZodMiniOptional<z.ZodMiniArray<typeof group>>
  >,
);
export type HooksSetting = z.infer<typeof hooksSetting>;

/** One command of a hook. */
export interface HookCommand {
  readonly command: string;
  readonly timeoutMs: number;
}

/**
 * Returns the commands for an event in the order of the settings, without duplicates.
 * @param subjects texts for the matchers: the names of a tool, or an agent's type; none for events without a subject
 */
export function hookCommands(
  setting: HooksSetting,
  event: HookEvent,
  subjects: readonly string[],
): readonly HookCommand[] {
  const groups = (setting[event] ?? []).filter(({ matcher }) => matches(matcher, subjects));
  const commands = groups.flatMap(({ hooks }) =>
    hooks.flatMap(({ type, command, timeout = DEFAULT_TIMEOUT }) =>
      type === "command" && command !== undefined ? [{ command, timeoutMs: timeout * 1000 }] : [],
    ),
  );
  return commands.filter(({ command }, i) => commands.findIndex((one) => one.command === command) === i);
}

function matches(matcher: string | undefined, subjects: readonly string[]): boolean {
  if (matcher === undefined || matcher === "" || matcher === "*" || subjects.length === 0) return true;
  if (/^[\w|-]+$/.test(matcher)) return matcher.split("|").some((name) => subjects.includes(name));
  try {
    const pattern = new RegExp(`^(?:${matcher})$`);
    return subjects.some((subject) => pattern.test(subject));
  } catch {
    // An invalid pattern matches everything, because a typo must not disable a guard.
    return true;
  }
}
