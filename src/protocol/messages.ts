import * as z from "zod/mini";
import { lazily } from "../schema/guards/guard.ts";
import { wellFormed } from "../text/characters/well-formed.ts";

/** Optional text; some programs write it as `null`. */
const text = lazily(() =>
  z.pipe(
    z.nullish(z.string()),
    z.transform((value) => value ?? undefined),
  ),
);
/** Text that defaults to "": the message is still meaningful without it. */
const textOrEmpty = lazily(() => z._default(z.string(), ""));

/** Each schema is created when a message of its type is first read: most processes read few types, a cold command none. */
const shapes = {
  task_assignment: () =>
    z.looseObject({
      type: z.literal("task_assignment"),
      taskId: z.coerce.string(),
      subject: textOrEmpty(),
      description: textOrEmpty(),
      assignedBy: textOrEmpty(),
      // Ours: the task was assigned already, and nothing blocks it any more.
      isFree: z.optional(z.boolean()),
      // Ours: ids of its open blockers.
      waitsFor: z.optional(z.array(z.string())),
    }),
  task_completed: () =>
    z.looseObject({
      type: z.literal("task_completed"),
      from: textOrEmpty(),
      taskId: z.coerce.string(),
      taskSubject: textOrEmpty(),
    }),
  idle_notification: () =>
    z.looseObject({
      type: z.literal("idle_notification"),
      from: textOrEmpty(),
      idleReason: text(),
      summary: text(),
      result: text(),
      completedTaskId: text(),
      completedStatus: text(),
      failureReason: text(),
    }),
  shutdown_request: () =>
    z.looseObject({
      type: z.literal("shutdown_request"),
      requestId: z.string(),
      from: textOrEmpty(),
      reason: text(),
    }),
  shutdown_approved: () =>
    z.looseObject({
      type: z.literal("shutdown_approved"),
      requestId: z.string(),
      from: textOrEmpty(),
      paneId: text(),
      backendType: text(),
    }),
  shutdown_rejected: () =>
    z.looseObject({
      type: z.literal("shutdown_rejected"),
      requestId: z.string(),
      from: textOrEmpty(),
      reason: textOrEmpty(),
    }),
  teammate_terminated: () =>
    z.looseObject({
      type: z.literal("teammate_terminated"),
      message: textOrEmpty(),
      // Ours: the member that ended.
      name: text(),
    }),
  plan_approval_request: () =>
    z.looseObject({
      type: z.literal("plan_approval_request"),
      requestId: z.string(),
      from: textOrEmpty(),
      planFilePath: textOrEmpty(),
      planContent: textOrEmpty(),
    }),
  plan_approval_response: () =>
    z.looseObject({
      type: z.literal("plan_approval_response"),
      requestId: z.string(),
      approved: z.boolean(),
      feedback: text(),
      permissionMode: text(),
    }),
  permission_request: () =>
    z.looseObject({
      type: z.literal("permission_request"),
      request_id: z.string(),
      agent_id: textOrEmpty(),
      tool_name: textOrEmpty(),
      tool_use_id: text(),
      description: textOrEmpty(),
      input: z._default(z.record(z.string(), z.unknown()), {}),
      permission_suggestions: z._default(z.array(z.unknown()), []),
    }),
  permission_response: () =>
    z.looseObject({
      type: z.literal("permission_response"),
      request_id: z.string(),
      subtype: text(),
      response: z.nullish(z.looseObject({})),
      error: text(),
      decision: text(),
      feedback: text(),
    }),
  mode_set_request: () =>
    z.looseObject({
      type: z.literal("mode_set_request"),
      mode: z.string(),
      from: textOrEmpty(),
    }),
  question_request: () =>
    z.looseObject({
      type: z.literal("question_request"),
      requestId: z.string(),
      from: textOrEmpty(),
      question: z.string(),
      choices: z.optional(z.array(z.string())),
      default: z.optional(z.string()),
      deadline: z.optional(z.number()),
    }),
  question_response: () =>
    z.looseObject({
      type: z.literal("question_response"),
      requestId: z.string(),
      answer: z.string(),
    }),
  // Every field is optional: even a message that we cannot use must not reach a model.
  sandbox_permission_request: () =>
    z.looseObject({
      type: z.literal("sandbox_permission_request"),
      requestId: textOrEmpty(),
      host: textOrEmpty(),
    }),
  sandbox_permission_response: () =>
    z.looseObject({
      type: z.literal("sandbox_permission_response"),
      requestId: textOrEmpty(),
      allow: z._default(z.boolean(), false),
      feedback: text(),
      permission_updates: z._default(z.array(z.unknown()), []),
    }),
  team_permission_update: () => z.looseObject({ type: z.literal("team_permission_update") }),
  background_end_request: () =>
    z.looseObject({
      type: z.literal("background_end_request"),
      taskId: z.string(),
      from: textOrEmpty(),
    }),
  resume_request: () => z.looseObject({ type: z.literal("resume_request"), from: textOrEmpty() }),
  interrupt_request: () => z.looseObject({ type: z.literal("interrupt_request"), from: textOrEmpty() }),
} as const;

export type ProtocolType = keyof typeof shapes;
/** All message types. */
export const PROTOCOL_TYPES = Object.keys(shapes) as readonly ProtocolType[];
type Shapes = typeof shapes;
/** A parsed protocol message: defaults filled in, unknown keys kept. */
export type ProtocolMessage = { [T in ProtocolType]: MessageOf<T> }[ProtocolType];
export type MessageOf<T extends ProtocolType> = z.infer<ReturnType<Shapes[T]>>;

/** Types that only code handles: they never start a turn of a model (protocol.md section 3). */
const SILENT: ReadonlySet<string> = new Set<ProtocolType>([
  "permission_request",
  "permission_response",
  "sandbox_permission_request",
  "sandbox_permission_response",
  "mode_set_request",
  "team_permission_update",
  "shutdown_approved",
]);

/** Parses a message's text; undefined if it is plain text, which matches no type. */
export function parseProtocol(messageText: string): ProtocolMessage | undefined {
  const value = parseObject(messageText);
  const type = value?.type;
  if (typeof type !== "string" || !Object.hasOwn(shapes, type)) return undefined;
  const parsed = z.safeParse(shapeOf(type as ProtocolType), value);
  return parsed.success ? (parsed.data as ProtocolMessage) : undefined;
}

const made = new Map<ProtocolType, z.ZodMiniType>();

function shapeOf(type: ProtocolType): z.ZodMiniType {
  const known = made.get(type) ?? shapes[type]();
  made.set(type, known);
  return known;
}

/** Maximum length of the last text in an idle notice, in UTF-16 units: a model reads it together with others. */
export const MAX_IDLE_RESULT = 30_000;

/** Formats a protocol message: one line of JSON with its time. */
export function formatProtocol(
  message: { readonly type: ProtocolType } & Record<string, unknown>,
  at: Date,
): string {
  const { type, ...rest } = message;
  return JSON.stringify(wellFormed({ type, ...rest, timestamp: at.toISOString() }));
}

/** True if code handles this type without a turn of the model. */
export function isCodeOnly(type: string): boolean {
  return SILENT.has(type);
}

/**
 * Makes a text of a model or a person inert: a text that a recipient could parse as a protocol message, even of an
 * unknown type, is prefixed with `Text: `. So no text can act as code does (protocol.md section 3, S72). Another program may
 * ignore more characters than we do: a byte order mark, any whitespace, NULs at the end.
 */
export function plainText(messageText: string): string {
  // The normal case, without the cost of the pattern below.
  if (/^[!-z|}~]/.test(messageText)) return messageText;
  const isProtocol = typeof parseObject(withoutIgnorable(messageText))?.type === "string";
  return isProtocol ? `Text: ${messageText}` : messageText;
}

/** Removes whitespace and invisible characters everywhere, so that JSON which is valid without them is recognised. */
function withoutIgnorable(messageText: string): string {
  ignorable ??= new RegExp(IGNORABLE, "gu");
  return messageText.replace(ignorable, "");
}

/** A string, since compiling Unicode properties costs a cold command time; compiled at the first message. */
const IGNORABLE = "[\\s\\p{Z}\\p{Cc}\\p{Cf}\\p{Default_Ignorable_Code_Point}\\u2800]+";
let ignorable: RegExp | undefined;

function parseObject(messageText: string): Record<string, unknown> | undefined {
  if (!/^\s*\{/.test(messageText)) return undefined;
  try {
    const value: unknown = JSON.parse(messageText);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    // The normal case: the message is plain text.
    return undefined;
  }
}
