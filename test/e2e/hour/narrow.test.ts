import { it } from "vitest";
import type { TerminalSetup } from "../../support/hour/person.ts";
import { spendHour } from "../../support/hour/spend-hour.ts";

it.each<TerminalSetup>([
  { width: 80, height: 24, theme: "dark" },
  { width: 40, height: 10, theme: "light" },
])(
  "an hour at a $theme terminal of $width×$height › runs the demo and a team of two, approves, comments, lands, survives kill-server, exits and continues",
  spendHour,
);
