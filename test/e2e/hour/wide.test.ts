import { it } from "vitest";
import type { TerminalSetup } from "../../support/hour/person.ts";
import { spendHour } from "../../support/hour/spend-hour.ts";

it.each<TerminalSetup>([
  { width: 200, height: 50, theme: "dark" },
  { width: 120, height: 40, theme: "light" },
])(
  "an hour at a $theme terminal of $width×$height › runs the demo and a team of two, approves, comments, lands, survives kill-server, exits and continues",
  spendHour,
);
