export declare const V8_FLAGS: string[];
export declare const SCRIPT_FLAGS: string[];
