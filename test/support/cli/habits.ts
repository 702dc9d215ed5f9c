import type { ChannelKind } from "../../../src/adapter/adapter-schema.ts";

/** Features that a channel may lack. */
type Feature =
  | "own screen"
  | "approvals"
  | "rules"
  | "team tools"
  | "turn ends"
  | "goodbye"
  | "conversation"
  | "account limits"
  | "budget in a turn"
  | "unconfirmed interrupt";

/** Bad habits of programs, and of the people at their screens. */
type Habit =
  | "late tools"
  | "half a line"
  | "late result"
  | "request after the end"
  | "hostile title"
  | "slow start"
  | "dialog at the start"
  | "missing login"
  | "draft in the input"
  | "own interrupt";

export type Trait = Feature | Habit;

const NO_REQUESTS = "its requests are unseen";
const NO_START_DIALOG = "it shows no dialog at its start";
const NOTHING_TYPED = "nothing is typed into its screen";
const STARTS_WITHOUT = "it starts without a login, and its turn fails";
const ON_SCREEN = "it asks for a login in its own screen, which is its dialog";

/** Traits that a channel cannot have, each with the reason: their tests are not defined. Every other trait is tested. */
export const NOT_APPLICABLE: Readonly<Record<ChannelKind, Readonly<Partial<Record<Trait, string>>>>> = {
  acp: {
    "own screen": "teams shows what it does",
    "own interrupt": "teams draws its pane: Esc there is an interrupt of teams",
    "dialog at the start": "without a screen it has none; see its missing tools and its missing login",
    "draft in the input": NOTHING_TYPED,
  },
  "app-server": {
    "dialog at the start": NO_START_DIALOG,
    "draft in the input": NOTHING_TYPED,
  },
  http: {
    "dialog at the start": NO_START_DIALOG,
    "draft in the input": NOTHING_TYPED,
    "missing login": STARTS_WITHOUT,
  },
  files: {
    "missing login": ON_SCREEN,
    "own interrupt": "until it has reported tokens, such a turn ends as any other; see its own tests",
  },
  hooks: { "missing login": ON_SCREEN },
  inbox: {
    rules: "claude applies its own rules",
    "budget in a turn": "teams counts its tokens, but cannot stop it at a limit",
    "unconfirmed interrupt": "a key that it ignores has no effect",
    goodbye: "claude answers a shutdown request itself",
    "late tools": "it reads its inbox itself once its session runs",
    "missing login": ON_SCREEN,
  },
  keys: {
    approvals: NO_REQUESTS,
    rules: NO_REQUESTS,
    "team tools": "it has a shell with teams instead",
    "turn ends": "its turns are unseen",
    conversation: "it is introduced again instead",
    "account limits": "its failures are unseen",
    "budget in a turn": "its costs are unseen",
    "unconfirmed interrupt": "teams presses its interrupt key without seeing the effect",
    "late tools": "it has a shell with teams instead",
    "late result": "its results are unseen",
    "request after the end": NO_REQUESTS,
    "hostile title": NO_REQUESTS,
    "dialog at the start": "its screen is not read for one; see its draft, and another program in its pane",
    "missing login": "its screen is not read for one",
    "own interrupt": "its turns are unseen",
  },
};
