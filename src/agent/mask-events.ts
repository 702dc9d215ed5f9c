import { maskStream, maskValue } from "../os/secrets.ts";
import type { AgentEvent } from "./events.ts";

/** Passes events on without a secret in them; of a streamed text, what may be the start of one waits for the next piece. */
export function maskEvents(
  onEvent: (event: AgentEvent) => void,
  secrets: readonly string[],
): (event: AgentEvent) => void {
  if (secrets.length === 0) return onEvent;
  const streamed = maskStream(secrets);
  const say = (text: string): void => {
    if (text !== "") onEvent({ type: "text", text });
  };
  return (event) => {
    if (event.type === "text") return say(streamed.push(event.text));
    const rest = streamed.end();
    if (event.type !== "text_dropped") say(rest);
    onEvent(maskValue(event, secrets));
  };
}
