// Some applications know the SDK by the name of the module that they wrapped around its binary.
@_exported public import KollusSDK
