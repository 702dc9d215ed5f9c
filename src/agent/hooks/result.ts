import * as z from "zod/mini";
import { stripControls } from "../../text/terminal-text.ts";

/** How the command of a hook ended, and what it printed. */
export interface HookEnd {
  readonly code: number | undefined;
  readonly signal: string | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** Its stdout is longer than what is read of it. */
  readonly isCut?: boolean;
  /** Why it did not end by itself, or did not begin. */
  readonly failure?: "timed-out" | "aborted" | "not-started";
  readonly message?: string;
}

/** What a hook before a tool call says of it. */
export interface HookPermission {
  readonly behavior: "allow" | "deny" | "ask";
  readonly reason: string;
}

/** What one command of a hook comes to: one of four kinds. */
export type HookResult =
  | {
      readonly kind: "success";
      /** What it printed that is no answer in JSON. */
      readonly stdout: string;
      readonly permission?: HookPermission;
      /** What a tool is to be called with in place of what it was to be. */
      readonly input?: Readonly<Record<string, unknown>>;
      /** For the person, beside everything else. */
      readonly message?: string;
    }
  | { readonly kind: "non-blocking error"; readonly text: string }
  | { readonly kind: "error while running"; readonly text: string }
  | {
      readonly kind: "stopped continuation";
      readonly text: string;
      /** The agent itself is to stop (`continue: false`), not only what it was about to do. */
      readonly ends: boolean;
    };

const AS_REFUSAL = "counts as a refusal";
const TOO_LONG = `its answer is longer than what is read of one, which ${AS_REFUSAL}`;
const UNREADABLE = `its answer begins as JSON and cannot be read, which ${AS_REFUSAL}`;
/** With `defer` a hook leaves it to the others. */
const DECISIONS: readonly string[] = ["allow", "deny", "ask", "defer"];

/** Characters of a hook's words that a model or a person reads. */
const MAX_TEXT = 10_000;

/** What stands in an answer that decides something: one that cannot be read may have been a refusal. */
const DECIDES = /"(permissionDecision|decision|continue)"/;

const text = z.catch(z.optional(z.string()), undefined);
const input = z.optional(z.unknown());
const changed = z.record(z.string(), z.unknown());

/** What a hook may answer in JSON; what is none of it, or of another type than it should be, is as if it were not said. */
const answer = z.looseObject({
  continue: z.catch(z.optional(z.boolean()), undefined),
  stopReason: text,
  decision: text,
  reason: text,
  systemMessage: text,
  permissionDecision: text,
  permissionDecisionReason: text,
  updatedInput: input,
  hookSpecificOutput: z.catch(
    z.optional(
      z.looseObject({ permissionDecision: text, permissionDecisionReason: text, updatedInput: input }),
    ),
    undefined,
  ),
});

/**
 * Tells what the end of a hook's command means: 0 is success, and JSON that it printed is obeyed; 2 stops what was to come;
 * anything else is an error that stops nothing (protocol.md section 7). Pure; what the command printed may be anything.
 */
export function hookResult(end: HookEnd): HookResult {
  const { code, signal, failure, message } = end;
  switch (failure) {
    case "timed-out":
      return { kind: "error while running", text: "ran past its timeout and was ended" };
    case "aborted":
      return { kind: "error while running", text: "was interrupted" };
    case "not-started":
      return { kind: "error while running", text: `could not be started: ${message ?? "no reason given"}` };
    default:
  }
  if (signal !== undefined) return { kind: "error while running", text: `was ended by ${signal}` };
  const said = plainText(end.stderr);
  if (code === 2) return { kind: "stopped continuation", text: said || "it gave no reason", ends: false };
  if (code !== 0)
    return { kind: "non-blocking error", text: `exit code ${code}${said === "" ? "" : `: ${said}`}` };
  const answer = parseAnswer(end.stdout);
  if (answer === undefined && end.stdout.trimStart().startsWith("{")) {
    const flaw = end.isCut ? TOO_LONG : DECIDES.test(end.stdout) ? UNREADABLE : undefined;
    if (flaw !== undefined) return refusal(flaw);
  }
  return answer ?? { kind: "success", stdout: plainText(end.stdout) };
}

function parseAnswer(stdout: string): HookResult | undefined {
  if (!stdout.trimStart().startsWith("{")) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(stdout);
  } catch {
    // Words that begin with a brace.
    return undefined;
  }
  const parsed = answer.safeParse(value);
  if (!parsed.success) return undefined;
  const { continue: goesOn, stopReason, decision, reason, systemMessage } = parsed.data;
  const because = (given: string | undefined): string =>
    plainText(given ?? reason ?? "") || "it gave no reason";
  if (goesOn === false) return { kind: "stopped continuation", text: because(stopReason), ends: true };
  if (decision === "block") return { kind: "stopped continuation", text: because(undefined), ends: false };
  const { hookSpecificOutput: specific } = parsed.data;
  const named = specific?.permissionDecision ?? parsed.data.permissionDecision;
  if (named !== undefined && !DECISIONS.includes(named))
    return refusal(`its permissionDecision is ${JSON.stringify(named.slice(0, 40))}, which ${AS_REFUSAL}`);
  const permission = permissionOf(parsed.data);
  const given = specific?.updatedInput ?? parsed.data.updatedInput ?? undefined;
  const input = given === undefined ? undefined : changed.safeParse(given).data;
  if (given !== undefined && input === undefined)
    return refusal(`its updatedInput is no object, which ${AS_REFUSAL}`);
  return {
    kind: "success",
    stdout: "",
    ...(permission === undefined ? {} : { permission }),
    ...(input === undefined ? {} : { input }),
    ...(systemMessage === undefined ? {} : { message: plainText(systemMessage) }),
  };
}

/** In the newer form below `hookSpecificOutput`, in the older one as `decision: "approve"`. */
function permissionOf(given: z.infer<typeof answer>): HookPermission | undefined {
  const specific = given.hookSpecificOutput;
  const named = specific?.permissionDecision ?? given.permissionDecision;
  const decided = named ?? (given.decision === "approve" ? "allow" : undefined);
  if (decided !== "allow" && decided !== "deny" && decided !== "ask") return undefined;
  const because = specific?.permissionDecisionReason ?? given.permissionDecisionReason ?? given.reason;
  return { behavior: decided, reason: plainText(because ?? "") || "it gave no reason" };
}

function refusal(text: string): HookResult {
  return { kind: "stopped continuation", text, ends: false };
}

function plainText(printed: string): string {
  const plain = stripControls(printed).trim();
  return plain.length <= MAX_TEXT ? plain : `${plain.slice(0, MAX_TEXT)} …`;
}
