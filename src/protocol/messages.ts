import * as z from "zod/mini";

/** Optional text that a peer may also write as `null`. */
const text = z.pipe(
  z.nullish(z.string()),
  z.transform((value) => value ?? undefined),
);
/** Text without which a message still has its meaning. */
const words = z._default(z.string(), "");

/** Made when a message of their type is first read: most processes read few types, and a cold command none. */
const shapes = {
  task_assignment: () =>
    z.looseObject({
      type: z.literal("task_assignment"),
      taskId: z.coerce.string(),
      subject: words,
      description: words,
      assignedBy: words,
      // Ours: it was its owner's before, and nothing blocks it any more.
      isFree: z.optional(z.boolean()),
      // Ours: the open ones of its blockers.
      waitsFor: z.optional(z.array(z.string())),
    }),
  task_completed: () =>
    z.looseObject({
      type: z.literal("task_completed"),
      from: words,
      taskId: z.coerce.string(),
      taskSubject: words,
    }),
  idle_notification: () =>
    z.looseObject({
      type: z.literal("idle_notification"),
      from: words,
      idleReason: text,
      summary: text,
      result: text,
      completedTaskId: text,
      completedStatus: text,
      failureReason: text,
    }),
  shutdown_request: () =>
    z.looseObject({
      type: z.literal("shutdown_request"),
      requestId: z.string(),
      from: words,
      reason: text,
    }),
  shutdown_approved: () =>
    z.looseObject({
      type: z.literal("shutdown_approved"),
      requestId: z.string(),
      from: words,
      paneId: text,
      backendType: text,
    }),
  shutdown_rejected: () =>
    z.looseObject({
      type: z.literal("shutdown_rejected"),
      requestId: z.string(),
      from: words,
      reason: words,
    }),
  teammate_terminated: () =>
    z.looseObject({
      type: z.literal("teammate_terminated"),
      message: words,
      // Ours: who.
      name: text,
    }),
  plan_approval_request: () =>
    z.looseObject({
      type: z.literal("plan_approval_request"),
      requestId: z.string(),
      from: words,
      planFilePath: words,
      planContent: words,
    }),
  plan_approval_response: () =>
    z.looseObject({
      type: z.literal("plan_approval_response"),
      requestId: z.string(),
      approved: z.boolean(),
      feedback: text,
      permissionMode: text,
    }),
  permission_request: () =>
    z.looseObject({
      type: z.literal("permission_request"),
      request_id: z.string(),
      agent_id: words,
      tool_name: words,
      tool_use_id: text,
      description: words,
      input: z._default(z.record(z.string(), z.unknown()), {}),
      permission_suggestions: z._default(z.array(z.unknown()), []),
    }),
  permission_response: () =>
    z.looseObject({
      type: z.literal("permission_response"),
      request_id: z.string(),
      subtype: text,
      response: z.nullish(z.looseObject({})),
      error: text,
      decision: text,
      feedback: text,
    }),
  mode_set_request: () =>
    z.looseObject({
      type: z.literal("mode_set_request"),
      mode: z.string(),
      from: words,
    }),
  question_request: () =>
    z.looseObject({
      type: z.literal("question_request"),
      requestId: z.string(),
      from: words,
      question: z.string(),
      choices: z.optional(z.array(z.string())),
    }),
  question_response: () =>
    z.looseObject({
      type: z.literal("question_response"),
      requestId: z.string(),
      answer: z.string(),
    }),
  // All of it may be missing: what a real peer sends here is for no model to read, also where nothing can be done about it.
  sandbox_permission_request: () =>
    z.looseObject({ type: z.literal("sandbox_permission_request"), requestId: words, host: words }),
  sandbox_permission_response: () =>
    z.looseObject({
      type: z.literal("sandbox_permission_response"),
      requestId: words,
      allow: z._default(z.boolean(), false),
      feedback: text,
      permission_updates: z._default(z.array(z.unknown()), []),
    }),
  team_permission_update: () => z.looseObject({ type: z.literal("team_permission_update") }),
  interrupt_request: () => z.looseObject({ type: z.literal("interrupt_request"), from: words }),
} as const;

export type ProtocolType = keyof typeof shapes;
/** Every type that there is. */
export const PROTOCOL_TYPES = Object.keys(shapes) as readonly ProtocolType[];
type Shapes = typeof shapes;
/** One protocol message as a reader has it: defaults filled in, unknown keys kept. */
export type ProtocolMessage = { [T in ProtocolType]: MessageOf<T> }[ProtocolType];
export type MessageOf<T extends ProtocolType> = z.infer<ReturnType<Shapes[T]>>;

/** Types whose handling is code's alone: they never start a turn of a model (protocol.md section 3). */
const SILENT: ReadonlySet<string> = new Set<ProtocolType>([
  "permission_request",
  "permission_response",
  "sandbox_permission_request",
  "sandbox_permission_response",
  "mode_set_request",
  "team_permission_update",
  "shutdown_approved",
]);

/** Reads a message's text; what does not match any type is plain text and gives undefined. */
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

/** Writes a protocol message: one line of JSON with its time. */
export function formatProtocol(
  message: { readonly type: ProtocolType } & Record<string, unknown>,
  at: Date,
): string {
  const { type, ...rest } = message;
  return JSON.stringify({ type, ...rest, timestamp: at.toISOString() });
}

/** Whether this type is handled by code without a turn of the model. */
export function isCodeOnly(type: string): boolean {
  return SILENT.has(type);
}

/**
 * Text of a model or a person, made inert: what a receiver would take for a protocol message (of any type, also
 * one we do not know) goes out behind `Text: `, so that no text can do what only code may (protocol.md section 3, S72).
 */
export function plainText(messageText: string): string {
  return typeof parseObject(messageText)?.type === "string" ? `Text: ${messageText}` : messageText;
}

function parseObject(messageText: string): Record<string, unknown> | undefined {
  if (!/^\s*\{/.test(messageText)) return undefined;
  try {
    const value: unknown = JSON.parse(messageText);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    // Not JSON is the normal case: a message in plain words.
    return undefined;
  }
}
