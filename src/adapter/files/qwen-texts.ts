import type { Spent } from "../../agent/conversation/call-model.ts";
import { withoutFileMarks } from "../gemini-texts.ts";
import { countOf, fieldsOf } from "../reported-values.ts";

/**
 * First line of every text for Qwen. In its shell mode, which a person can leave on, Qwen runs a text as a shell command: this line
 * ends that shell. It also keeps Qwen from reading a text as a slash command.
 */
const GUARD = "exit # This line is for your shell mode. The message from teams follows.";

/** Returns the text to submit to Qwen for a message. */
export function submittedText(text: string): string {
  return `${GUARD}\n${withoutFileMarks(text)}`;
}

/** Returns the usage of an answer; undefined if the event reports none, as for a part of an answer. */
export function spentOf(usage: unknown): Spent | undefined {
  const { input_tokens, output_tokens, cache_read_input_tokens } = fieldsOf(usage);
  const [input, output, cacheRead] = [input_tokens, output_tokens, cache_read_input_tokens].map(countOf);
  if (!input && !output) return undefined;
  return {
    usage: {
      // The input includes the tokens that were read from the cache.
      input: Math.max(0, (input ?? 0) - (cacheRead ?? 0)),
      output: output ?? 0,
      cacheRead: cacheRead ?? 0,
      cacheWrite: 0,
    },
    costUsd: 0,
  };
}
