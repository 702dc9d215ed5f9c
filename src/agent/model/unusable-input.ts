import { isNestedTooDeeply } from "../../schema/guards/nesting.ts";
import { type AssistantMessage, ModelError } from "./model.ts";

/** The wrapper around an input that is nested too deeply to check, to store or to show. */
const TOO_DEEP = { too_deep_json: "" };

/**
 * Parses the input of a call. Truncated JSON, or JSON that is not an object, is wrapped: the API accepts only objects,
 * and no tool runs with the wrapper.
 */
export function parseInput(json: string): object {
  try {
    const value: unknown = JSON.parse(json);
    if (isObject(value)) return value;
  } catch {
    // The caller reports it to the model.
  }
  return { incomplete_json: json };
}

/** Returns the input of a call that came as a value; wraps it if it is not an object. */
export function objectInput(value: unknown): object {
  if (isObject(value)) return value;
  return isNestedTooDeeply(value) ? TOO_DEEP : { incomplete_json: JSON.stringify(value) };
}

/**
 * Replaces each input that is nested too deeply with a wrapper. No tool runs with the wrapper.
 * @throws ModelError if another part of the answer is nested too deeply
 */
export function withShallowInputs(message: AssistantMessage): AssistantMessage {
  if (!isNestedTooDeeply(message.content)) return message;
  const content = message.content.map((block) =>
    block.type === "tool_use" && isNestedTooDeeply(block.input) ? { ...block, input: TOO_DEEP } : block,
  );
  if (content.some((block) => block.type === "opaque" && isNestedTooDeeply(block.value)))
    throw new ModelError("invalid_request", "The model's answer is nested too deeply to be stored.");
  return { ...message, content };
}

/** Returns why no tool runs with an input; undefined if it is not one of the wrappers. */
export function inputProblem(input: unknown): "incomplete" | "too deep" | undefined {
  const keys = isObject(input) ? Object.keys(input).join() : "";
  if (keys === "incomplete_json") return "incomplete";
  return keys === "too_deep_json" ? "too deep" : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
