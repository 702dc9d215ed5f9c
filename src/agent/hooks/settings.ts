import * as z from "zod/mini";

/** What a hook can be asked about (protocol.md section 7). */
export const HOOK_EVENTS = [
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

/** Seconds that a hook has when it says nothing of it. */
const DEFAULT_TIMEOUT = 60;

const group = z.looseObject({
  /** A name, several with `|` between them, or a regular expression; all without one. */
  matcher: z.optional(z.string()),
  hooks: z.array(
    z.looseObject({
      /** Only `command` is run; other kinds belong to other programs. */
      type: z.string(),
      command: z.optional(z.string()),
      /** Seconds. */
      timeout: z.optional(z.number().check(z.positive())),
    }),
  ),
});

/** `hooks` of settings. Events that we do not know are other programs' and may look as they like. */
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
 * The commands for an event, in the order of the settings, each once.
 * @param subjects what matchers are held against: the names of a tool, an agent's type; none for events without one
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
    // Rather a guard that looks at too much than one that a slip of the pen has switched off.
    return true;
  }
}
