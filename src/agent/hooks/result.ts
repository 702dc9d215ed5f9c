import * as z from "zod/mini";
import { isNestedTooDeeply } from "../../schema/guards/nesting.ts";
import { cutText, shortened } from "../../text/characters/cut-text.ts";
import { stripControls } from "../../text/terminal-text.ts";

/** The end of a hook's command, with its output. */
export interface HookEnd {
  readonly code: number | undefined;
  readonly signal: string | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether stdout is incomplete because it was too long. */
  readonly isTruncated?: boolean;
  /** Why the command was ended, or did not start; `not-ended` if it may still run. */
  readonly failure?: "timed-out" | "aborted" | "not-started" | "not-ended";
  readonly message?: string;
}

/** The decision of a hook about a tool call. */
export interface HookPermission {
  readonly behavior: "allow" | "deny" | "ask";
  readonly reason: string;
}

/** The result of one command of a hook. */
export type HookResult =
  | {
      readonly kind: "success";
      /** The command's output, or the `additionalContext` of an answer in JSON. */
      readonly stdout: string;
      readonly permission?: HookPermission;
      /** Replaces the input of the tool call. */
      readonly input?: Readonly<Record<string, unknown>>;
      /** A message for the user. */
      readonly message?: string;
    }
  | {
      readonly kind: "non-blocking error";
      readonly text: string;
      /** The shell could not run the command, or an interpreter found no script. */
      readonly notRun?: boolean;
    }
  | {
      readonly kind: "error while running";
      readonly text: string;
      /** The command exceeded its timeout. */
      readonly timedOut?: boolean;
    }
  | {
      readonly kind: "stopped continuation";
      readonly text: string;
      /** The agent itself must stop (`continue: false`), not only its action. */
      readonly ends: boolean;
    };

const AS_REFUSAL = "counts as a refusal";
const TOO_LONG = `its answer is too long, which ${AS_REFUSAL}`;
const UNREADABLE = `its answer is broken JSON, which ${AS_REFUSAL}`;
/** With `defer`, a hook leaves the decision to the other hooks. */
const DECISIONS: readonly string[] = ["allow", "deny", "ask", "defer"];

/** Exit codes of a shell for a command that it could not execute or find. */
const NOT_RUN: readonly (number | undefined)[] = [126, 127];

/**
 * Messages of a shell that could not run a command, and of interpreters that miss a script or a module (Node, Python, Ruby, PHP, Deno,
 * Bun). They count with every status except 0: a hook with status 0 has decided.
 */
const NOT_FOUND =
  /^sh: (?:line )?\d+: |\b(?:ERR_)?MODULE_NOT_FOUND\b|^ModuleNotFoundError: |\(LoadError\)$|^Could not open input file: |^error: Module not found/m;

/** Maximum characters of a hook's text for a model or a person. */
const MAX_TEXT = 10_000;

/** Matches a JSON key that decides something. A broken answer with such a key may have been a refusal. */
const DECIDES = /"(permissionDecision|decision|continue)"/;

const text = z.catch(z.optional(z.string()), undefined);
const input = z.optional(z.unknown());
const changed = z.record(z.string(), z.unknown());

/** The JSON answer of a hook. Unknown keys and values of a wrong type are ignored. */
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
      z.looseObject({
        permissionDecision: text,
        permissionDecisionReason: text,
        updatedInput: input,
        additionalContext: text,
      }),
    ),
    undefined,
  ),
});

/**
 * Interprets the end of a hook's command: 0 is success, and JSON on stdout is applied; 2 stops the action; any other status is an
 * error that stops nothing (protocol.md section 7). Pure; accepts any output.
 */
export function hookResult(end: HookEnd): HookResult {
  const { code, signal } = end;
  const failure = failureOf(end);
  if (failure !== undefined) return failure;
  if (signal !== undefined) return { kind: "error while running", text: `was ended by ${signal}` };
  const stderr = plainText(end.stderr);
  if (code === 2) return { kind: "stopped continuation", text: stderr || "it gave no reason", ends: false };
  if (code !== 0) {
    const text = `exit code ${code}${stderr === "" ? "" : `: ${stderr}`}`;
    const notRun = NOT_RUN.includes(code) || NOT_FOUND.test(stderr);
    return { kind: "non-blocking error", text, ...(notRun && { notRun }) };
  }
  const answer = parseAnswer(end.stdout);
  if (answer === undefined && end.stdout.trimStart().startsWith("{")) {
    const problem = end.isTruncated ? TOO_LONG : DECIDES.test(end.stdout) ? UNREADABLE : undefined;
    if (problem !== undefined) return refusal(problem);
  }
  return answer ?? { kind: "success", stdout: plainText(end.stdout) };
}

/** Returns the result of a command that did not end by itself. */
function failureOf({ failure, message = "no reason given" }: HookEnd): HookResult | undefined {
  const kind = "error while running";
  switch (failure) {
    case "timed-out":
      return { kind, text: "exceeded its timeout and was ended", timedOut: true };
    case "aborted":
      return { kind, text: "was interrupted" };
    case "not-started":
      return { kind, text: `could not be started: ${message}` };
    case "not-ended":
      return { kind, text: `could not be ended, and may still run: ${message}` };
    default:
      return undefined;
  }
}

function parseAnswer(stdout: string): HookResult | undefined {
  if (!stdout.trimStart().startsWith("{")) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(stdout);
  } catch {
    // Plain text that begins with a brace.
    return undefined;
  }
  const parsed = answer.safeParse(value);
  if (!parsed.success) return undefined;
  const { continue: mayContinue, stopReason, decision, reason, systemMessage } = parsed.data;
  const because = (given: string | undefined): string =>
    plainText(given ?? reason ?? "") || "it gave no reason";
  if (mayContinue === false) return { kind: "stopped continuation", text: because(stopReason), ends: true };
  if (decision === "block") return { kind: "stopped continuation", text: because(undefined), ends: false };
  const { hookSpecificOutput: specific } = parsed.data;
  const named = specific?.permissionDecision ?? parsed.data.permissionDecision;
  if (named !== undefined && !DECISIONS.includes(named))
    return refusal(`its permissionDecision is ${JSON.stringify(shortened(named, 40))}, which ${AS_REFUSAL}`);
  const permission = permissionOf(parsed.data);
  const given = specific?.updatedInput ?? parsed.data.updatedInput ?? undefined;
  const input = given === undefined ? undefined : changed.safeParse(given).data;
  if (given !== undefined && input === undefined)
    return refusal(`its updatedInput is not an object, which ${AS_REFUSAL}`);
  if (isNestedTooDeeply(input)) return refusal(`its updatedInput is nested too deeply, which ${AS_REFUSAL}`);
  return {
    kind: "success",
    stdout: plainText(specific?.additionalContext ?? ""),
    ...(permission === undefined ? {} : { permission }),
    ...(input === undefined ? {} : { input }),
    ...(systemMessage === undefined ? {} : { message: plainText(systemMessage) }),
  };
}

/** Reads the permission decision: `hookSpecificOutput` is the newer form, `decision: "approve"` the older one. */
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
  return cutText(stripControls(printed).trim(), MAX_TEXT);
}
