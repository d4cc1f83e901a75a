// What a kind of card brings along to the dialog: a last look before a yes is sent.

/** By the contract's name: `check(card)` returns a sentence that keeps the yes from being sent, or an empty text. */
export const companions = new Map();
