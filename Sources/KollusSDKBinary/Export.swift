// Some applications import the SDK by the name of the module that wraps its binary.
@_exported public import KollusSDK
