/** A refused call with the reason, in one line for the model. */
export function refusalLine(tool: string, summary: string, note = "no reason was given"): string {
  return `${tool}(${summary}): ${note}`;
}

/** A call that was refused during a turn. */
export interface Refusal {
  /** The call with the reason, in one line for the model. */
  readonly line: string;
  /** A person or the lead gave the reason. */
  readonly isAnswered: boolean;
}

/** Returns the message that continues a turn which a CLI ended because calls were refused. */
export function refusalText(refusals: readonly string[]): string {
  const list = refusals.map((one) => `- ${one}`).join("\n");
  return `These calls were refused, so they did not run:\n${list}\nContinue your work without them.`;
}
